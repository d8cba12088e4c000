// Binds compiled functions: inspects their kernels and calls them.

#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>

#include "compile/bad_indices.h"
#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/requirements.h"
#include "core/runtime/arrays.h"
#include "core/runtime/function.h"
#include "core/runtime/released_lock.h"
#include "core/runtime/scalar_arguments.h"
#include "ir/program.h"
#include "runtime/hal/profile.h"
#include "runtime/plan_symbols.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR types

namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t n : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", n);
  return "(" + text + ")";
}

std::string place_text(const Layout& layout) {
  return layout == linear_layout(layout.shape) ? "a buffer" : to_string(layout);
}

// Checks the dtype, shape and layout of an argument; the runtime, which does not know them, checks
// the memory.
void check_argument(const PyArray& array, const BufferNode& param, const Layout& layout,
                    const SourceLocation& where) {
  if (array.type != param.type) {
    fail(where, Code::WrongElementType,
         fmt::format("pass an array of dtype {}", to_string(param.type)),
         "the argument '{}' has dtype {}, but the array has {}", param.name, to_string(param.type),
         to_string(array.type));
  }
  // Symbolic extents are compared with the arrays once the symbols have values.
  if (param.is_symbolic()) {
    if (!same_places(array.layout, linear_layout(array.layout.shape))) {
      fail(where, Code::WrongScope, "make the array without mem_scope and layout",
           "the argument '{}' must be in a row-major buffer, but the array is in {}", param.name,
           place_text(array.layout));
    }
    return;
  }
  if (array.layout.shape != layout.shape) {
    fail(where, Code::WrongShape,
         fmt::format("pass an array of shape {}", shape_text(layout.shape)),
         "the argument '{}' has shape {}, but the array has {}", param.name,
         shape_text(layout.shape), shape_text(array.layout.shape));
  }
  if (!same_places(array.layout, layout)) {
    fail(where, Code::WrongScope,
         "make the array with the argument's scope or layout (nd.empty(..., mem_scope=..., "
         "layout=...)) and the target that the function was built for",
         "the argument '{}' must be in {}, but the array is in {}", param.name, place_text(layout),
         place_text(array.layout));
  }
}

// Fails if a tensor is not where the kernels expect it in its image.
void check_place(const hal::Binding& binding, const BufferNode& param,
                 const SourceLocation& where) {
  const auto* texture = std::get_if<hal::TextureBinding>(&binding);
  if (texture != nullptr && param.origin.is_zero() && texture->origin != hal::Offset2D{}) {
    fail(where, Code::WrongScope, "declare the argument with decl_buffer(..., origin=True)",
         "the array of '{}' does not begin at the corner of its image, as the kernel expects",
         param.name);
  }
  if (texture == nullptr || !param.origin.exact_image) return;
  const hal::Extent2D there = texture->texture->extent();
  const hal::Extent2D declared{static_cast<uint32_t>(param.layout.col_count()),
                               static_cast<uint32_t>(param.layout.row_count())};
  if (there == declared) return;
  fail(where, Code::InexactImage,
       "make the array without image=, or declare the argument without exact_image=True",
       "the argument '{}' is declared to fill an image of {}, but the array is in an image of {}",
       param.name, hal::to_string(declared), hal::to_string(there));
}

const PyArray& array_of(const py::handle& value, const BufferNode& param,
                        const SourceLocation& where) {
  if (py::isinstance<PyArray>(value)) return value.cast<const PyArray&>();
  const auto type = py::str(py::type::of(value).attr("__name__")).cast<std::string>();
  const std::string what = type == "HostArray"
                               ? fmt::format("an array of {}, which runs no kernels",
                                             py::str(value.attr("device")).cast<std::string>())
                               : fmt::format("{}, not a Texloom array", kind_text(value));
  fail(where, Code::NotAnArray, "make it with texloom.nd.array(value, texloom.opencl(0))",
       "the argument '{}' is {}", param.name, what);
}

using Executor = std::shared_ptr<runtime::PlanExecutor>;

// The driver `host` runs kernels with the interpreter.
runtime::LaunchPlan plan_for(const compile::CompiledModule& module, const PyDevice& device) {
  runtime::LaunchPlan plan = compile::make_launch_plan(module);
  if (device.driver == "host") compile::add_interpreted_code(module, plan);
  return plan;
}

// Returns the executor for the device; builds the kernels if the function first runs there.
Result<Executor> executor_on(PyFunction& f, const PyDevice& device,
                             const std::shared_ptr<hal::Device>& opened) {
  const ReleasedLock released;
  const std::lock_guard lock(f.mutex);
  Executor& made = f.executors[opened.get()];
  if (!made) {
    TL_ASSIGN_OR_RETURN(made, runtime::PlanExecutor::create(opened, plan_for(f.module, device)));
  }
  return made;
}

// The arguments of one call.
struct CallArguments {
  std::vector<hal::Binding> bindings;  // of tensors, in order, and their shapes
  std::vector<runtime::Shape> shapes;
  GivenNumbers numbers;
};

std::vector<int64_t> symbol_values(const runtime::LaunchPlan& plan, const CallArguments& arguments,
                                   const SourceLocation& where) {
  if (plan.symbols.empty()) return {};
  const auto values = runtime::bind_symbols(plan, arguments.shapes, arguments.numbers.symbols);
  if (values.ok()) return *values;
  fail(where, Code::WrongShape, "pass arrays whose shapes agree with one another", "{}",
       values.status().message());
}

// Called after the executor has refused the arguments: fails with a diagnostic for the user if the
// reason is known.
void explain(const PyFunction& f, runtime::PlanExecutor& executor,
             std::span<const hal::Binding> bindings, const std::vector<int64_t>& symbols,
             const SourceLocation& where) {
  const std::vector<Buffer>& params = f.module.program.params;
  for (size_t i = 0; i < params.size(); ++i) check_place(bindings[i], *params[i], where);
  const auto overlap = executor.find_alias(bindings, symbols);
  throw_if_error(overlap.status());
  if (const auto& alias = *overlap) {
    fail(where, Code::AliasedArguments, "pass a separate array for each argument that is written",
         "the arguments '{}' and '{}' overlap in memory, and one of them is written",
         params[alias->first]->name, params[alias->second]->name);
  }
}

void run(PyFunction& f, const PyDevice& on, CallArguments arguments, int times,
         const SourceLocation& where) {
  const std::shared_ptr<hal::Device>& device = open_device(on);
  compile::check_requirements(f.module, device->info(), where);
  const hal::HostSpan span(device->options().profile.get(), f.module.program.name);
  const Result<Executor> executor = executor_on(f, on, device);
  throw_if_error(executor.status());
  std::vector<hal::Binding>& bindings = arguments.bindings;
  const std::vector<lower::CheckedIndex>& checks = f.module.checks;
  if (!checks.empty()) {
    const auto report = compile::make_index_report(*device, checks);
    throw_if_error(report.status());
    bindings.push_back(*report);
    arguments.shapes.push_back(f.module.program.params.back()->shape);
  }
  const std::vector<int64_t> symbols = symbol_values((*executor)->plan(), arguments, where);
  bool interrupted = false;
  Status status;
  {
    const ReleasedLock released;
    status = (*executor)->run(bindings, {symbols, arguments.numbers.scalars}, times, [&] {
      const py::gil_scoped_acquire lock;
      interrupted = PyErr_CheckSignals() != 0;  // Ctrl-C
      return interrupted;
    });
  }
  if (interrupted) throw py::error_already_set();
  if (status.code() == StatusCode::InvalidArgument)
    explain(f, **executor, bindings, symbols, where);
  throw_if_error(status);
  if (checks.empty()) return;
  const auto report = [&] {
    const ReleasedLock released;
    return compile::read_index_report(*device, bindings.back(), checks);
  }();
  throw_if_error(report.status());
  compile::fail_if_bad(*report, checks);
}

// The names of all arguments of a call, in order.
std::vector<std::string> argument_names(const PyFunction& f) {
  std::vector<std::string> names;
  for (const Buffer& p : std::span(f.module.program.params).first(f.module.array_layouts.size())) {
    names.push_back(p->name);
  }
  for (const lower::SymbolArgument& s : f.module.symbol_arguments) {
    names.insert(names.begin() + static_cast<ptrdiff_t>(s.position), as<Var>(s.symbol)->name);
  }
  return names;
}

void check_count(const PyFunction& f, const py::args& args, const SourceLocation& where) {
  const std::vector<std::string> names = argument_names(f);
  if (args.size() == names.size()) return;
  fail(where, Code::WrongArgumentCount,
       fmt::format("call it as {}({})", f.module.program.name, fmt::join(names, ", ")),
       "'{}' takes {} arguments but is called with {}", f.module.program.name, names.size(),
       args.size());
}

void enqueue(PyFunction& f, int times, const py::args& args) {
  if (times < 1) throw py::value_error(fmt::format("times={} is not positive", times));
  const SourceLocation where = user_location();
  // A checked build has one more parameter, which the call does not pass.
  const std::span params = std::span(f.module.program.params).first(f.module.array_layouts.size());
  check_count(f, args, where);
  CallArguments arguments;
  std::vector<py::handle> tensors;
  arguments.numbers = given_numbers(f.module, args, tensors, where);
  std::optional<PyDevice> device;
  for (size_t i = 0; i < params.size(); ++i) {
    const PyArray& array = array_of(tensors[i], *params[i], where);
    check_argument(array, *params[i], f.module.array_layouts[i], where);
    if (device && *device != array.device) {
      fail(where, Code::WrongDevice, "copy all arguments to one device",
           "the argument '{}' is on {}, but earlier arguments are on {}", params[i]->name,
           to_string(array.device), to_string(*device));
    }
    device = array.device;
    arguments.bindings.push_back(array.binding);
    // The plan has tensors as kernels see them, possibly with other axes after transform_layout.
    arguments.shapes.push_back(params[i]->is_symbolic() ? array.layout.shape : params[i]->shape);
  }
  if (!device) return;
  run(f, *device, std::move(arguments), times, where);
}

void call(PyFunction& f, const py::args& args, const py::kwargs& named) {
  if (!named.empty()) {
    const std::string name = py::str(named.begin()->first).cast<std::string>();
    fail(
        user_location(), Code::WrongArgumentCount,
        fmt::format("call it as {}({})", f.module.program.name, fmt::join(argument_names(f), ", ")),
        "'{}' is called with the keyword argument '{}', but its arguments are positional",
        f.module.program.name, name);
  }
  enqueue(f, 1, args);
}

struct PyKernel {
  std::shared_ptr<const PyFunction> function;
  size_t number;

  const compile::CompiledKernel& get() const { return function->module.kernels[number]; }
};

// Converts extents to integers, or to expressions if they depend on symbols.
py::tuple numbers(std::span<const Expr> extents) {
  py::list list;
  for (const Expr& e : extents) {
    const int64_t* value = int_value(e);
    list.append(value != nullptr ? py::object(py::int_(*value)) : py::cast(PyExpr{e}));
  }
  return py::tuple(list);
}

py::dict argument_dict(const KernelParam& p) {
  py::dict d;
  if (p.scalar) {
    d["name"] = as<Var>(p.scalar)->name;
    d["kind"] = "constant";
    d["dtype"] = to_string(p.scalar->type);
    return d;
  }
  d["name"] = p.buffer->name;
  d["kind"] = p.buffer->is_texture() ? "texture" : "buffer";
  d["dtype"] = to_string(p.buffer->type);
  d["shape"] =
      p.buffer->is_symbolic() ? numbers(p.buffer->extents) : py::tuple(py::cast(p.buffer->shape));
  d["access"] = to_string(p.access);
  d["layout"] = to_string(p.buffer->layout);
  return d;
}

}  // namespace

void bind_functions(py::module_& m) {
  py::class_<PyKernel>(m, "Kernel", "One kernel of a compiled function.")
      .def_property_readonly("name", [](const PyKernel& k) { return k.get().name; })
      .def_property_readonly(
          "grid", [](const PyKernel& k) { return numbers(k.get().grid); },
          "Blocks along x, y and z: numbers, or expressions of symbols.")
      .def_property_readonly(
          "block", [](const PyKernel& k) { return py::tuple(py::cast(k.get().block)); },
          "Threads of a block along x, y and z.")
      .def_property_readonly("source", [](const PyKernel& k) { return k.get().source; })
      .def_property_readonly("args",
                             [](const PyKernel& k) {
                               py::list list;
                               for (const KernelParam& p : k.get().params)
                                 list.append(argument_dict(p));
                               return list;
                             })
      .def("__repr__", [](const PyKernel& k) {
        return fmt::format("Kernel({}, grid={}, block={})", k.get().name,
                           py::repr(numbers(k.get().grid)).cast<std::string>(),
                           shape_text({k.get().block.begin(), k.get().block.end()}));
      });
  py::class_<PyFunction, std::shared_ptr<PyFunction>>(
      m, "Function", "A compiled function; call it with arrays of one device.")
      .def("__call__", &call, "Runs on the arrays' device; does not wait for the result.")
      .def("enqueue", &enqueue, py::arg("times"),
           "Runs `times` times, one after the other, with no other run in between; does not wait. "
           "The arguments of a call follow.")
      .def_property_readonly("name", [](const PyFunction& f) { return f.module.program.name; })
      .def_property_readonly("entry_name",
                             [](const PyFunction& f) { return f.module.program.name; })
      .def_property_readonly("target",
                             [](const PyFunction& f) { return to_string(f.module.target); })
      .def("__str__", [](const PyFunction& f) { return to_string(f.module.program); })
      .def("get_source",
           [](const PyFunction& f) {
             std::string text;
             for (const auto& kernel : f.module.kernels) text += kernel.source + "\n";
             return text;
           })
      .def_property_readonly(
          "argument_layouts",
          [](const PyFunction& f) {
            std::vector<std::string> texts;
            for (const Layout& layout : f.module.array_layouts) {
              const bool linear = layout == linear_layout(layout.shape);
              texts.push_back(linear ? "" : to_string(layout));
            }
            return texts;
          },
          "The layout of each argument's array, in the form of nd.empty's layout=.")
      .def_property_readonly("kernels", [](const std::shared_ptr<PyFunction>& f) {
        std::vector<PyKernel> kernels;
        for (size_t i = 0; i < f->module.kernels.size(); ++i) kernels.push_back({f, i});
        return kernels;
      });
}

}  // namespace texloom::python
