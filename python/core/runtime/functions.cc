// Binds compiled functions: inspects their kernels and calls them.

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <span>

#include "compile/bad_indices.h"
#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/requirements.h"
#include "core/runtime/arrays.h"
#include "core/runtime/completed_call.h"
#include "core/runtime/function.h"
#include "core/runtime/released_lock.h"
#include "core/runtime/scalar_arguments.h"
#include "core/runtime/wait_notice.h"
#include "ir/program.h"
#include "runtime/hal/profile.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR types

namespace {

// Fails if a tensor is not where the kernels expect it in its image.
// `layout` is that of the array.
void check_place(const hal::Binding& binding, const BufferNode& param, const Layout& layout,
                 const SourceLocation& where) {
  const auto* texture = std::get_if<hal::TextureBinding>(&binding);
  if (texture != nullptr && param.origin.is_zero() && texture->origin != hal::Offset2D{}) {
    fail(where, Code::WrongScope, "declare the argument with decl_buffer(..., origin=True)",
         "the array of '{}' does not begin at the corner of its image, as the kernel expects",
         param.name);
  }
  if (texture == nullptr || !param.origin.exact_image) return;
  const hal::Extent2D there = texture->texture->extent();
  const hal::Extent2D declared{static_cast<uint32_t>(layout.col_count()),
                               static_cast<uint32_t>(layout.row_count())};
  if (there == declared) return;
  fail(where, Code::InexactImage,
       "make the array without image=, or declare the argument without exact_image=True",
       "the argument '{}' is declared to fill an image of {}, but the array is in an image of {}",
       param.name, hal::to_string(declared), hal::to_string(there));
}

using SharedProgram = std::shared_ptr<runtime::DeviceProgram>;

// The driver `host` runs kernels with the interpreter.
runtime::LaunchPlan plan_for(const compile::CompiledModule& module, const PyDevice& device) {
  runtime::LaunchPlan plan = compile::make_launch_plan(module);
  if (device.driver == "host") compile::add_interpreted_code(module, plan);
  return plan;
}

// The wait for a device's compiler, which cannot be stopped.
class BuildWait {
 public:
  explicit BuildWait(const compile::CompiledModule& module) : module_(module) {}

  // Called without the GIL. Returns false after Ctrl-C; the second one ends the process.
  bool goes_on(const runtime::KernelProgress& at) {
    const py::gil_scoped_acquire lock;
    if (auto signal = take_interrupt()) {
      notice_.remove_bar();
      if (interrupt_ && signal->matches(PyExc_KeyboardInterrupt)) end_by_interrupt();
      if (!interrupt_)
        notice_.say(
            "waiting for the device's compiler, which cannot be stopped; Ctrl-C ends the process "
            "at once");
      interrupt_ = std::move(signal);
    }
    const compile::CompiledKernel& kernel = module_.kernels[at.current];
    if (!interrupt_)
      notice_.show_compiling(KernelWork::Compile, at, kernel.name, kernel.source.size());
    return !interrupt_;
  }

  void throw_if_interrupted() const {
    if (interrupt_) throw *interrupt_;
  }

 private:
  const compile::CompiledModule& module_;
  WaitNotice notice_{shows_notices()};
  std::optional<py::error_already_set> interrupt_;
};

// Returns the program for the device; builds the kernels if the function first runs there.
Result<SharedProgram> find_program(PyFunction& f, const PyDevice& device,
                                   const std::shared_ptr<hal::Device>& opened, BuildWait& wait) {
  const ReleasedLock released;
  const std::lock_guard lock(f.mutex);
  SharedProgram& made = f.programs[opened.get()];
  if (!made) {
    TL_ASSIGN_OR_RETURN(
        made, runtime::DeviceProgram::create(opened, plan_for(f.module, device),
                                             [&](const auto& at) { return wait.goes_on(at); }));
  }
  return made;
}

SharedProgram program_on(PyFunction& f, const PyDevice& device,
                         const std::shared_ptr<hal::Device>& opened) {
  BuildWait wait(f.module);
  const Result<SharedProgram> program = find_program(f, device, opened, wait);
  wait.throw_if_interrupted();
  throw_if_error(program.status());
  warn_of_unusable_cache();
  return *program;
}

// The arguments of one call. Arrays are in order, and `shapes` are those that the caller sees.
struct CallArguments {
  std::optional<PyDevice> device;  // of the arrays; nullopt if there are none
  std::vector<hal::Binding> bindings;
  std::vector<Shape> shapes;
  GivenNumbers numbers;
};

// Checks the arguments of a call that gives all of them.
CallArguments checked_arguments(const PyFunction& f, const py::args& args,
                                const SourceLocation& where) {
  f.signature.check_count(args.size(), where);
  const std::vector<py::handle> given(args.begin(), args.end());
  CallArguments arguments;
  std::vector<py::handle> tensors;
  arguments.numbers = given_numbers(f.module, f.signature.places(), given, tensors, where);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PyArray& array = f.signature.checked_array(i, tensors[i], where);
    if (arguments.device && *arguments.device != array.device) {
      fail(where, Code::WrongDevice, "copy all arguments to one device",
           "the argument '{}' is on {}, but earlier arguments are on {}", f.signature.param(i).name,
           to_string(array.device), to_string(*arguments.device));
    }
    arguments.device = array.device;
    arguments.bindings.push_back(array.binding);
    arguments.shapes.push_back(array.layout.shape);
  }
  return arguments;
}

std::vector<int64_t> symbol_values(const PyFunction& f, const CallArguments& arguments,
                                   const SourceLocation& where) {
  const auto values = f.shapes.symbols(arguments.shapes, arguments.numbers.symbols);
  if (values.ok()) return *values;
  fail(where, Code::WrongShape, "pass arrays whose shapes agree with one another", "{}",
       values.status().message());
}

// Called after the program has refused the arguments: fails with a diagnostic for the user if the
// reason is known.
void explain(const PyFunction& f, runtime::DeviceProgram& program,
             std::span<const hal::Binding> bindings, std::span<const Shape> shapes,
             const std::vector<int64_t>& symbols, const SourceLocation& where) {
  const std::vector<Buffer>& params = f.module.program.params;
  for (size_t i = 0; i < shapes.size(); ++i)
    check_place(bindings[i], *params[i], f.signature.layout(i, shapes[i]), where);
  const auto overlap = program.find_alias(bindings, symbols);
  throw_if_error(overlap.status());
  if (const auto& alias = *overlap) {
    fail(where, Code::AliasedArguments, "pass a separate array for each argument that is written",
         "the arguments '{}' and '{}' overlap in memory, and one of them is written",
         params[alias->first]->name, params[alias->second]->name);
  }
}

bool has_symbolic_texture(const Program& program) {
  const auto is_one = [](const Buffer& b) { return b->is_texture() && b->is_symbolic(); };
  return std::any_of(program.params.begin(), program.params.end(), is_one) ||
         std::any_of(program.temporaries.begin(), program.temporaries.end(), is_one);
}

// There are arrays among the arguments.
void run(PyFunction& f, CallArguments arguments, int times, const SourceLocation& where) {
  const PyDevice& on = *arguments.device;
  const std::shared_ptr<hal::Device>& device = open_device(on);
  compile::check_requirements(f.module, device->info(), where);
  const hal::HostSpan span(device->options().profile.get(), f.module.program.name);
  const SharedProgram program = program_on(f, on, device);
  std::vector<hal::Binding>& bindings = arguments.bindings;
  const std::vector<lower::CheckedIndex>& checks = f.module.checks;
  if (!checks.empty()) {
    const auto report = compile::make_index_report(*device, checks);
    throw_if_error(report.status());
    bindings.push_back(*report);
  }
  const std::vector<int64_t> symbols = symbol_values(f, arguments, where);
  std::optional<py::error_already_set> interrupt;
  Status status;
  {
    const ReleasedLock released;
    status = program->run(bindings, {symbols, arguments.numbers.scalars}, {.times = times}, [&] {
      const py::gil_scoped_acquire lock;
      interrupt = take_interrupt();
      return interrupt.has_value();
    });
  }
  explain_waits_for(program);
  if (interrupt) throw_interrupt(*std::move(interrupt));
  if (status.code() == StatusCode::InvalidArgument)
    explain(f, *program, bindings, arguments.shapes, symbols, where);
  if (status.code() == StatusCode::LimitExceeded && has_symbolic_texture(f.module.program)) {
    fail(where, Code::TextureTooLarge, "pass smaller arrays, or keep the tensor in a buffer", "{}",
         status.message());
  }
  throw_if_error(status);
  if (checks.empty()) return;
  const auto report = [&] {
    const ReleasedLock released;
    return compile::read_index_report(*device, bindings.back(), checks);
  }();
  throw_if_error(report.status());
  compile::fail_if_bad(*report, checks);
}

void enqueue(PyFunction& f, int times, const py::args& args) {
  if (times < 1) {
    const py::module_ errors = py::module_::import("texloom.errors");
    errors.attr("refuse")("BadValue", fmt::format("enqueue: times={} is not positive", times),
                          "give the number of runs: enqueue(1, ...)", errors.attr("MisuseError"));
  }
  const SourceLocation where = user_location();
  CallArguments arguments = checked_arguments(f, args, where);
  if (arguments.device) run(f, std::move(arguments), times, where);
}

// Arrays of a device, all given, are passed on at once; the rest is in array_calls.py.
py::object call(const py::object& self, const py::args& args, const py::kwargs& named) {
  auto& f = self.cast<PyFunction&>();
  if (!named.empty()) {
    f.signature.refuse_keyword(py::str(named.begin()->first).cast<std::string>(), user_location());
  }
  if (args.size() != f.signature.count() || std::any_of(args.begin(), args.end(), is_numpy_array)) {
    return py::module_::import("texloom.array_calls").attr("call")(self, args);
  }
  enqueue(f, 1, args);
  return py::none();
}

// The operations of a run with these arguments, all given; nullopt if they are not known.
std::optional<double> operations(const PyFunction& f, const py::args& args) {
  if (!f.module.operations) return std::nullopt;
  const SourceLocation where = user_location();
  const std::vector<int64_t> values = symbol_values(f, checked_arguments(f, args, where), where);
  Substitution symbols;
  for (size_t i = 0; i < values.size(); ++i) {
    symbols.emplace(f.module.symbols.sizes[i], make_int(values[i]));
  }
  return compile::total(*f.module.operations, symbols);
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

// The arguments of a call, in order, as callers see them.
py::list argument_dicts(const PyFunction& f) {
  py::list list;
  for (const auto& [is_array, i] : f.signature.places()) {
    if (!is_array) {
      const lower::SymbolArgument& number = f.module.symbol_arguments[i];
      py::dict d = argument_dict({{}, Access::Read, number.symbol});
      d["dtype"] = to_string(number.type);
      list.append(d);
      continue;
    }
    const Buffer& param = f.module.program.params[i];
    py::dict d = argument_dict({param, f.module.array_accesses[i], {}});
    if (!param->is_symbolic()) {
      d["shape"] = py::tuple(py::cast(f.module.array_layouts[i].shape));
      d["layout"] = to_string(f.module.array_layouts[i]);
    }
    list.append(d);
  }
  return list;
}

}  // namespace

void bind_functions(py::module_& m) {
  py::class_<PyKernel>(m, "Kernel", "One kernel of a compiled function.")
      .def_property_readonly(
          "name", [](const PyKernel& k) { return k.get().name; },
          "The name of the kernel in its source.")
      .def_property_readonly(
          "grid", [](const PyKernel& k) { return numbers(k.get().grid); },
          "Blocks along x, y and z: numbers, or expressions of symbols.")
      .def_property_readonly(
          "block", [](const PyKernel& k) { return py::tuple(py::cast(k.get().block)); },
          "Threads of a block along x, y and z.")
      .def_property_readonly(
          "source", [](const PyKernel& k) { return k.get().source; },
          "The source, in the language of the target.")
      .def_property_readonly(
          "args",
          [](const PyKernel& k) {
            py::list list;
            for (const KernelParam& p : k.get().params) list.append(argument_dict(p));
            return list;
          },
          "A dict for each argument: its name, kind (buffer, texture or constant) and dtype; of "
          "tensors also shape, access and layout.")
      .def("__repr__", [](const PyKernel& k) {
        return fmt::format("Kernel({}, grid={}, block={})", k.get().name,
                           py::repr(numbers(k.get().grid)).cast<std::string>(),
                           shape_text({k.get().block.begin(), k.get().block.end()}));
      });
  py::class_<PyFunction, std::shared_ptr<PyFunction>>(
      m, "Function",
      R"(A compiled function: a launch plan and its kernels; made by ``texloom.build``.

Call it with NumPy arrays or with arrays of one device, in the order of the arguments of ``build``,
and with numbers for scalars. The first call on a device compiles the kernels there. It is also a
module, whose only function it is.
)")
      .def("__call__", &call, R"(Run on the arrays' device; allocate and return outputs left out.

Does not wait for the result unless there is a NumPy array.

Parameters
----------
args : numpy.ndarray, NDArray or number
    The arguments, in the order of those of ``build``, or all but the outputs.

Returns
-------
NDArray, numpy.ndarray, tuple or None
    The outputs that the call leaves out: NumPy arrays if all given arrays are.

Raises
------
TVMError
    TL5001 for a wrong number of arguments, TL5002 for a dtype, TL5003 for a shape, TL5004 for a
    scope or a layout, TL5005 for arrays of several devices, TL5008 for a value that is not an
    array, TL5009 if there is not enough memory, TL5010 if the device's compiler refuses a kernel,
    TL5011 for arrays that overlap.
)")
      .def(
          "_completed_call",
          [](const PyFunction& f, const py::args& args) { return completed_call(f, args); },
          "See python/core/runtime/completed_call.h.")
      .def("_operations", &operations,
           "The operations of a run with these arguments; None if they are not known.")
      .def("enqueue", &enqueue, py::arg("times"),
           R"(Run several times, with no other work in between, without waiting.

Parameters
----------
times : int
    The number of runs, positive; otherwise a ValueError.
args : NDArray or number
    The arguments of a call.
)")
      .def_property_readonly(
          "name", [](const PyFunction& f) { return f.module.program.name; },
          "The name given to ``build``.")
      .def_property_readonly(
          "entry_name", [](const PyFunction& f) { return f.module.program.name; },
          "The name given to ``build``.")
      .def_property_readonly(
          "target", [](const PyFunction& f) { return to_string(f.module.target); },
          "The target that it was built for, as text.")
      .def("__str__", [](const PyFunction& f) { return to_string(f.module.program); })
      .def(
          "get_source",
          [](const PyFunction& f) {
            std::string text;
            for (const auto& kernel : f.module.kernels) text += kernel.source + "\n";
            return text;
          },
          "Return the source of all kernels.")
      .def_property_readonly(
          "args", &argument_dicts,
          "The arguments of a call, each a dict like those of a kernel. The access of an array is "
          "\"write\" for an output, which a call may leave out.")
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
      .def_property_readonly(
          "kernels",
          [](const std::shared_ptr<PyFunction>& f) {
            std::vector<PyKernel> kernels;
            for (size_t i = 0; i < f->module.kernels.size(); ++i) kernels.push_back({f, i});
            return kernels;
          },
          "The kernels, in the order of the launch plan.");
}

}  // namespace texloom::python
