#include "graph/passes/multiply_halves.h"

#include <algorithm>
#include <vector>

namespace texloom::graph {

void multiply_halves(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  if (!kernels.product_of_halves) return;
  for (Node& node : graph.nodes) {
    if (node.pattern != Pattern::Opaque || !is_plain(node)) continue;
    std::vector<ir::Type> stored;
    for (const TensorId id : node.inputs) stored.push_back(graph.tensors[id].type);
    const auto is_half = [](ir::Type type) { return type == ir::Type::f(16); };
    if (std::ranges::none_of(stored, is_half)) continue;
    if (const auto made = kernels.product_of_halves(node.computation, stored))
      node.computation = *made;
  }
}

}  // namespace texloom::graph
