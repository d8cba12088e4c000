// Compiled functions: kernels to look at, and calls.

#include <pybind11/stl.h>

#include "arrays.h"
#include "bad_indices.h"
#include "compiled.h"
#include "ir/program.h"
#include "lower/pipeline.h"
#include "package/launch_plan.h"
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

void check_argument(const PyArray& array, const BufferNode& param, const Layout& layout,
                    const SourceLocation& where) {
  if (array.type != param.type) {
    fail(where, Code::WrongElementType,
         fmt::format("pass an array of dtype {}", to_string(param.type)),
         "the argument '{}' has dtype {}, but the array has {}", param.name, to_string(param.type),
         to_string(array.type));
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
         "the argument '{}' lies in {}, but the array in {}", param.name, place_text(layout),
         place_text(array.layout));
  }
  const auto* texture = std::get_if<hal::TextureBinding>(&array.binding);
  if (texture != nullptr && param.origin.is_zero() && texture->origin != hal::Offset2D{}) {
    fail(where, Code::WrongScope, "declare the argument with decl_buffer(..., origin=True)",
         "the array of '{}' does not begin at the corner of its image, as the kernel expects",
         param.name);
  }
}

const PyArray& array_of(const py::handle& value, const BufferNode& param,
                        const SourceLocation& where) {
  if (py::isinstance<PyArray>(value)) return value.cast<const PyArray&>();
  fail(where, Code::NotAnArray, "make it with tvm.nd.array(value, device)",
       "the argument '{}' is a {}, not a Texloom array", param.name,
       py::str(py::type::of(value).attr("__name__")).cast<std::string>());
}

using Executor = std::shared_ptr<runtime::PlanExecutor>;

// Builds the kernels when the function runs on this device for the first time.
Result<Executor> executor_on(CompiledFunction& f, const std::shared_ptr<hal::Device>& device) {
  const py::gil_scoped_release released;
  const std::lock_guard lock(f.mutex);
  Executor& made = f.executors[device.get()];
  if (!made) {
    TL_ASSIGN_OR_RETURN(made,
                        runtime::PlanExecutor::create(device, package::make_launch_plan(f.module)));
  }
  return made;
}

void run(CompiledFunction& f, const std::shared_ptr<hal::Device>& device,
         std::vector<hal::Binding> bindings, const SourceLocation& where) {
  const Result<Executor> executor = executor_on(f, device);
  throw_if_error(executor.status());
  if (!f.checks.empty()) bindings.push_back(no_bad_indices(*device, f.checks));
  if (const auto alias = (*executor)->find_alias(bindings)) {
    const std::vector<Buffer>& params = f.module.program.params;
    fail(where, Code::AliasedArguments,
         "pass an array of its own for each argument that is written",
         "the arguments '{}' and '{}' overlap in memory, and one of them is written",
         params[alias->first]->name, params[alias->second]->name);
  }
  Status status;
  {
    const py::gil_scoped_release released;
    status = (*executor)->run(bindings);
  }
  throw_if_error(status);
  if (!f.checks.empty()) throw_if_bad(*device, bindings.back(), f.checks);
}

void call(CompiledFunction& f, const py::args& args) {
  const SourceLocation where = user_location();
  // Behind them may stand one of the compiler's own.
  const size_t count = f.array_layouts.size();
  const std::span params = std::span(f.module.program.params).first(count);
  if (args.size() != count) {
    std::string names;
    for (const Buffer& p : params) names += (names.empty() ? "" : ", ") + p->name;
    fail(where, Code::WrongArgumentCount,
         fmt::format("call it as {}({})", f.module.program.name, names),
         "'{}' takes {} arguments but is called with {}", f.module.program.name, count,
         args.size());
  }
  std::vector<hal::Binding> bindings;
  std::optional<PyDevice> device;
  for (size_t i = 0; i < count; ++i) {
    const PyArray& array = array_of(args[i], *params[i], where);
    check_argument(array, *params[i], f.array_layouts[i], where);
    if (device && device->ordinal != array.device.ordinal) {
      fail(where, Code::WrongDevice, "copy all arguments to one device",
           "the argument '{}' lies on opencl({}), but those before it on opencl({})",
           params[i]->name, array.device.ordinal, device->ordinal);
    }
    device = array.device;
    bindings.push_back(array.binding);
  }
  if (!device) return;
  run(f, open_device(*device), std::move(bindings), where);
}

struct PyKernel {
  std::shared_ptr<const CompiledFunction> function;
  size_t number;

  const codegen::opencl::CompiledKernel& get() const { return function->module.kernels[number]; }
};

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
  d["shape"] = py::tuple(py::cast(p.buffer->shape));
  d["access"] = to_string(p.access);
  d["layout"] = to_string(p.buffer->layout);
  return d;
}

}  // namespace

void bind_functions(py::module_& m) {
  py::class_<PyKernel>(m, "Kernel", "One kernel of a compiled function.")
      .def_property_readonly("name", [](const PyKernel& k) { return k.get().name; })
      .def_property_readonly(
          "grid", [](const PyKernel& k) { return py::tuple(py::cast(k.get().grid)); },
          "Blocks along x, y and z.")
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
                           shape_text({k.get().grid.begin(), k.get().grid.end()}),
                           shape_text({k.get().block.begin(), k.get().block.end()}));
      });
  py::class_<CompiledFunction, std::shared_ptr<CompiledFunction>>(
      m, "Function", "A compiled function; call it with arrays of one device.")
      .def("__call__", &call, "Runs on the arrays' device; does not wait for the result.")
      .def_property_readonly("name",
                             [](const CompiledFunction& f) { return f.module.program.name; })
      .def_property_readonly("entry_name",
                             [](const CompiledFunction& f) { return f.module.program.name; })
      .def_property_readonly("target",
                             [](const CompiledFunction& f) { return to_string(f.target); })
      .def("__str__", [](const CompiledFunction& f) { return to_string(f.module.program); })
      .def("get_source",
           [](const CompiledFunction& f) {
             std::string text;
             for (const auto& kernel : f.module.kernels) text += kernel.source + "\n";
             return text;
           })
      .def_property_readonly("kernels", [](const std::shared_ptr<CompiledFunction>& f) {
        std::vector<PyKernel> kernels;
        for (size_t i = 0; i < f->module.kernels.size(); ++i) kernels.push_back({f, i});
        return kernels;
      });
  m.def("build", [](const PyProgram& program, bool checked) {
    // A program of kernels is lowered already; tests of its indices cannot be put in any more.
    const bool has_kernels = program.state->program.stage == Stage::Kernels && !checked;
    lower::Lowering lowering = has_kernels ? *program.state : lowered(program, checked);
    auto f = std::make_shared<CompiledFunction>();
    f->target = lowering.target;
    f->array_layouts = std::move(lowering.array_layouts);
    if (f->array_layouts.empty()) {  // of a text, which says nothing of transform_layout
      for (const Buffer& p : lowering.program.params) f->array_layouts.push_back(p->layout);
    }
    f->checks = std::move(lowering.checks);
    f->module = codegen::opencl::compile(lowering.program);
    return f;
  });
}

}  // namespace texloom::python
