#include "core/graph/operators.h"

#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/graph/computation.h"
#include "core/handles.h"
#include "core/runtime/custom.h"
#include "graph/passes/passes.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

using graph::TensorId;

void add_operator(graph::Graph& g, const std::string& name, const std::string& op,
                  const std::string& pattern, const PyComputation& computation, bool is_view,
                  std::optional<std::size_t> joins_along, std::vector<std::size_t> coordinates,
                  std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                  const py::dict& attributes) {
  graph::Node node{name, op, std::move(inputs), std::move(outputs)};
  node.location = user_location();
  node.attributes = attributes_of(attributes);
  node.pattern = graph::pattern_of(pattern);
  TL_CHECK(node.pattern.has_value(), pattern);
  node.computation = computation.node;
  node.is_view = is_view;
  node.joins_along = joins_along;
  node.coordinates = std::move(coordinates);
  g.nodes.push_back(std::move(node));
}

// The kernels that a Python object offers to passes (texloom.graph.kernel_library).
graph::KernelLibrary library_of(const py::object& kernels) {
  graph::KernelLibrary library;
  if (kernels.is_none()) return library;
  library.is_faster_joined = [kernels](const graph::SharedComputation& first,
                                       const graph::SharedComputation& second, std::size_t input) {
    return kernels.attr("is_faster_joined")(PyComputation{first}, PyComputation{second}, input)
        .cast<bool>();
  };
  library.attention =
      [kernels](const graph::AttentionParts& parts) -> std::optional<graph::SharedComputation> {
    const py::object made =
        kernels.attr("attention")(PyComputation{parts.scores}, PyComputation{parts.softmax},
                                  PyComputation{parts.product}, wrapped(parts.inputs), parts.scale);
    if (made.is_none()) return std::nullopt;
    return made.cast<const PyComputation&>().node;
  };
  return library;
}

// (pass, nodes before, nodes after) for each
py::list run_passes(graph::Graph& g, const std::vector<std::string>& names,
                    const py::object& kernels) {
  py::list list;
  for (const graph::GraphPassReport& each :
       graph::run_graph_passes(g, names, user_location(), library_of(kernels)))
    list.append(py::make_tuple(each.pass, each.nodes_before, each.nodes_after));
  return list;
}

}  // namespace

void bind_operators(py::module_& m, py::class_<graph::Graph>& graphs) {
  bind_computations(m);
  graphs.def("operator", &add_operator)
      .def("run_passes", &run_passes, py::arg("names"), py::arg("kernels") = py::none());
  m.def("default_graph_passes", [] {
    py::list names;
    for (const graph::GraphPass& pass : graph::graph_passes()) {
      if (pass.is_default) names.append(std::string(pass.name));
    }
    return names;
  });
  m.def("graph_passes", [] {
    py::list list;
    for (const graph::GraphPass& pass : graph::graph_passes())
      list.append(
          py::make_tuple(std::string(pass.name), "graph", "graph", std::string(pass.summary)));
    return list;
  });
}

}  // namespace texloom::python
