// Binds the computations of graphs' nodes.

#include "core/graph/computation.h"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
