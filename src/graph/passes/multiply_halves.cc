#include "graph/passes/multiply_halves.h"

#include <algorithm>
#include <vector>

namespace texloom::graph {

void multiply_halves(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  if (!kernels.attention) return;
  for (Node& node : graph.nodes) {
    if (!is_plain(node) || !node.computation->attention) continue;
    std::vector<ir::Type> stored;
    for (const TensorId id : node.inputs) stored.push_back(graph.tensors[id].type);
    const auto is_half = [](ir::Type type) { return type == ir::Type::f(16); };
    if (std::ranges::none_of(stored, is_half)) continue;
    const auto parts = node.computation->attention;
    if (const auto made = kernels.attention(*parts, stored)) node.computation = *made;
  }
}

}  // namespace texloom::graph
