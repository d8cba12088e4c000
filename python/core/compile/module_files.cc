// Converts compiled functions to plain values for module files (python/texloom/module_file.py), and
// back.

#include <pybind11/stl.h>

#include <tuple>

#include "compile/stored_module.h"
#include "core/handles.h"
#include "core/runtime/function.h"

namespace texloom::python {

namespace {

// The Python form of what compile/stored_module.h declares.
using KernelTuple = std::pair<std::string, std::string>;
using ArrayTuple = std::tuple<ir::Shape, std::string, bool>;
using ValueTuple = std::tuple<size_t, size_t, std::string>;

py::dict store_function(const PyFunction& f) {
  if (!f.module.checks.empty()) {
    fail(user_location(), Code::BadModuleFile, "build it without checked=True",
         "a checked function cannot be saved: a file does not store the lines that it reports");
  }
  const compile::StoredModule stored = compile::store(f.module);
  std::vector<KernelTuple> kernels;
  for (const auto& [name, source] : stored.kernels) kernels.emplace_back(name, source);
  std::vector<ArrayTuple> arrays;
  for (const auto& [shape, layout, is_output] : stored.arrays) {
    arrays.emplace_back(shape, layout, is_output);
  }
  std::vector<ValueTuple> values;
  for (const auto& [position, symbol, dtype] : stored.values) {
    values.emplace_back(position, symbol, dtype);
  }
  py::dict parts;
  parts["program"] = stored.program;
  parts["target"] = stored.target;
  parts["kernels"] = kernels;
  parts["arrays"] = arrays;
  parts["values"] = values;
  parts["operations"] = stored.operations;
  return parts;
}

std::shared_ptr<PyFunction> load_function(const std::string& program, const std::string& file,
                                          const std::string& target,
                                          const std::vector<KernelTuple>& kernels,
                                          const std::vector<ArrayTuple>& arrays,
                                          const std::vector<ValueTuple>& values,
                                          const std::optional<double>& operations) {
  compile::StoredModule stored{.program = program, .target = target, .operations = operations};
  for (const auto& [name, source] : kernels) stored.kernels.push_back({name, source});
  for (const auto& [shape, layout, is_output] : arrays) {
    stored.arrays.push_back({shape, layout, is_output});
  }
  for (const auto& [position, symbol, dtype] : values) {
    stored.values.push_back({position, symbol, dtype});
  }
  return std::make_shared<PyFunction>(compile::load(stored, file, user_location()));
}

}  // namespace

void bind_module_files(py::module_& m) {
  m.def("store_function", store_function);
  m.def("load_function", load_function, py::arg("program"), py::arg("file"), py::arg("target"),
        py::arg("kernels"), py::arg("arrays"), py::arg("values"), py::arg("operations"));
  m.def("refuse_module_file",
        [](const std::string& problem) { compile::refuse_module_file(problem, user_location()); });
  m.def("refuse_output_file", [](const std::string& problem) {
    fail(user_location(), Code::BadModuleFile, "choose another file, or make room for it", "{}",
         problem);
  });
}

}  // namespace texloom::python
