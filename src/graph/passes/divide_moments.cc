#include "graph/passes/divide_moments.h"

namespace texloom::graph {

void divide_moments(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  if (!kernels.moments_in_parts) return;
  for (Node& node : graph.nodes) {
    // The squares of differences from the mean are products.
    const bool reduces = node.pattern == Pattern::Reduction || node.pattern == Pattern::Contraction;
    if (!reduces || !is_plain(node)) continue;
    if (const auto made = kernels.moments_in_parts(node.computation)) node.computation = *made;
  }
}

}  // namespace texloom::graph
