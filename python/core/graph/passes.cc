#include "core/graph/passes.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "core/graph/computation.h"
#include "core/handles.h"
#include "graph/passes/passes.h"

namespace texloom::python {
namespace {

// The computation that a method returned; nullopt if it returned None.
std::optional<graph::SharedComputation> computation_in(const py::object& made) {
  if (made.is_none()) return std::nullopt;
  return made.cast<const PyComputation&>().node;
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
  library.has_channels_last = kernels.attr("has_channels_last").cast<bool>();
  library.moves_operands = kernels.attr("moves_operands").cast<bool>();
  library.normalization_before =
      [kernels](const graph::SharedComputation& computation,
                const ir::Shape& shape) -> std::optional<graph::SharedComputation> {
    return computation_in(kernels.attr("normalization_before")(PyComputation{computation}, shape));
  };
  library.product_of_rows = [kernels](const graph::SharedComputation& computation) {
    return computation_in(kernels.attr("product_of_rows")(PyComputation{computation}));
  };
  library.moments_in_parts = [kernels](const graph::SharedComputation& computation) {
    return computation_in(kernels.attr("moments_in_parts")(PyComputation{computation}));
  };
  library.attention =
      [kernels](const graph::AttentionParts& parts,
                const std::vector<ir::Type>& stored) -> std::optional<graph::SharedComputation> {
    std::vector<std::string> types;
    for (const ir::Type type : stored) types.push_back(ir::to_string(type));
    return computation_in(kernels.attr("attention")(
        PyComputation{parts.scores}, PyComputation{parts.weights}, PyComputation{parts.product},
        wrapped(parts.inputs), wrapped(parts.operands), parts.scale, parts.factor, parts.order,
        parts.hides_nan, types));
  };
  return library;
}

std::vector<graph::GraphPassReport> run_passes(graph::Graph& g,
                                               const std::vector<std::string>& names,
                                               const py::object& kernels) {
  return graph::run_graph_passes(g, names, user_location(), library_of(kernels));
}

}  // namespace

void bind_graph_passes(py::module_& m, py::class_<graph::Graph>& graphs) {
  py::class_<graph::GraphPassReport>(m, "_GraphPassReport");
  graphs.def("run_passes", &run_passes, py::arg("names"), py::arg("kernels") = py::none());
  // The passes that run by default. `textures`: whether tensors are in textures wherever kernels
  // allow it.
  m.def("default_graph_passes", [](bool halves, bool textures) {
    std::vector<std::string> names;
    for (const graph::GraphPass& pass : graph::graph_passes()) {
      if ((pass.is_default || halves) && (pass.suits_textures || !textures))
        names.emplace_back(pass.name);
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
