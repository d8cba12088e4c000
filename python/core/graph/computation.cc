// Binds the computations of graphs' nodes.

#include "core/graph/computation.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compile/program.h"
#include "core/runtime/released_lock.h"
#include "graph/evaluate.h"
#include "graph/graph.h"

namespace texloom::python {
namespace {

PyComputation make_computation(const std::vector<PyTensor>& inputs,
                               const std::vector<PyTensor>& outputs,
                               const std::vector<PyExpr>& symbols) {
  graph::Computation made;
  for (const PyTensor& each : inputs) made.inputs.push_back(each.node);
  for (const PyTensor& each : outputs) made.outputs.push_back(each.node);
  for (const PyExpr& each : symbols) made.symbols.push_back(each.node);
  return {std::make_shared<const graph::Computation>(std::move(made))};
}

// The bytes of each output for these inputs; None if graph::evaluated() does not compute them.
std::optional<std::vector<py::bytes>> evaluated(const PyComputation& own,
                                                const std::vector<py::array>& arrays,
                                                std::int64_t max_steps) {
  std::vector<graph::Elements> inputs;
  for (const py::array& each : arrays) {
    const auto contiguous = py::array::ensure(each, py::array::c_style);
    const auto* data = static_cast<const std::byte*>(contiguous.data());
    inputs.push_back(
        std::make_shared<const std::vector<std::byte>>(data, data + contiguous.nbytes()));
  }
  std::optional<std::vector<graph::Elements>> outputs;
  {
    const ReleasedLock released;
    outputs = graph::evaluated(*own.node, inputs, max_steps, hear_interrupt);
  }
  if (!outputs) return std::nullopt;
  std::vector<py::bytes> made;
  for (const graph::Elements& each : *outputs)
    made.emplace_back(reinterpret_cast<const char*>(each->data()), each->size());
  return made;
}

}  // namespace

std::vector<PyTensor> wrapped(const std::vector<ir::Tensor>& tensors) {
  std::vector<PyTensor> list;
  for (const ir::Tensor& each : tensors) list.push_back({each});
  return list;
}

void bind_computations(py::module_& m) {
  py::class_<PyComputation>(m, "_Computation")
      .def(py::init(&make_computation), py::arg("inputs"), py::arg("outputs"),
           py::arg("symbols") = std::vector<PyExpr>())
      .def("__eq__", [](const PyComputation& a,
                        const PyComputation& b) { return graph::equal(*a.node, *b.node); })
      .def("__hash__", [](const PyComputation& own) { return graph::structural_hash(*own.node); })
      .def("evaluated", &evaluated, py::arg("inputs"), py::arg("max_steps"))
      .def_property_readonly("inputs",
                             [](const PyComputation& own) { return wrapped(own.node->inputs); })
      .def_property_readonly("outputs",
                             [](const PyComputation& own) { return wrapped(own.node->outputs); })
      .def_property_readonly("pattern",
                             [](const PyComputation& own) {
                               return std::string(to_string(graph::pattern_of(*own.node)));
                             })
      .def_property_readonly("symbols",
                             [](const PyComputation& own) { return wrap(own.node->symbols); });
}

}  // namespace texloom::python
