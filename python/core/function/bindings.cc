// Binds compiled functions: inspects their kernels and calls them.

#include <pybind11/stl.h>

#include <algorithm>
#include <span>

#include "core/function/completed_call.h"
#include "core/function/function.h"
#include "core/function/numpy_call.h"
#include "core/function/runs.h"
#include "core/runtime/arrays.h"
#include "ir/program.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

// Enqueues a run directly if all arguments are given and no array is one of NumPy or of cpu(0).
py::object call(PyFunction& f, const py::args& args, const py::kwargs& named) {
  if (!named.empty()) {
    f.signature.refuse_keyword(py::str(named.begin()->first).cast<std::string>(), user_location());
  }
  const auto is_in_memory = [](const py::handle& each) {
    return is_numpy_array(each) || is_host_array(each);
  };
  if (args.size() != f.signature.count() || std::any_of(args.begin(), args.end(), is_in_memory)) {
    return call_with_numpy(f, args);
  }
  enqueue(f, 1, args);
  return py::none();
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
  for (const auto& [is_array, i] : f.signature.parameters()) {
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

void bind_kernel(py::module_& m) {
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
          "source", [](const PyKernel& k) { return k.get().code->listing(); },
          "The source, in the language of the target.")
      .def_property_readonly(
          "binary", [](const PyKernel& k) { return py::bytes(k.get().code->bytes); },
          "What the driver gets: the source, or a shared object with the native code of all "
          "kernels "
          "of the function.")
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
}

void bind_call_argument(py::module_& m) {
  py::class_<CallArgument>(m, "CallArgument", "An argument of a call that is completed.")
      .def_readonly("passed", &CallArgument::passed,
                    "What the kernels get: an array of a device, or a number.")
      .def_readonly("is_read", &CallArgument::is_read, "Whether the kernels read an array.")
      .def_readonly("is_written", &CallArgument::is_written, "Whether they write it.");
}

using FunctionClass = py::class_<PyFunction, std::shared_ptr<PyFunction>>;

void bind_calls(FunctionClass& function) {
  function
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
          [](const PyFunction& f, const py::args& args) {
            std::vector<CallArgument> arguments = completed_call(f, args);
            copy_to_device(arguments);
            return arguments;
          },
          "Complete a call: return all arguments, with new arrays of a device for outputs that are "
          "left out and for NumPy arrays, whose elements are copied.")
      .def("_build_on", &build_on, py::arg("device"),
           "Build the kernels for a device, as the first call there would, and run nothing.")
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
)");
}

void bind_contents(FunctionClass& function) {
  function
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
            for (const auto& kernel : f.module.kernels) text += kernel.code->listing() + "\n";
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

}  // namespace

void bind_functions(py::module_& m) {
  bind_kernel(m);
  bind_call_argument(m);
  FunctionClass function(
      m, "Function",
      R"(A compiled function: a launch plan and its kernels; made by ``texloom.build``.

Call it with NumPy arrays or with arrays of one device, in the order of the arguments of ``build``,
and with numbers for scalars. The first call on a device compiles the kernels there. It is also a
module, whose only function it is.
)");
  bind_calls(function);
  bind_contents(function);
}

}  // namespace texloom::python
