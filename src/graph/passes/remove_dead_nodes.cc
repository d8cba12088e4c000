#include "graph/passes/remove_dead_nodes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/passes/unused_tensors.h"

namespace texloom::graph {

void remove_dead_nodes(Graph& graph) {
  std::vector<bool> wanted(graph.tensors.size());
  for (const TensorId id : graph.outputs) wanted[id] = true;
  std::vector<Node> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    const bool is_alive = node.call || std::any_of(node.outputs.begin(), node.outputs.end(),
                                                   [&](TensorId id) { return wanted[id]; });
    if (!is_alive) continue;
    for (const TensorId id : node.inputs) wanted[id] = true;
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  remove_unused_tensors(graph);
}

}  // namespace texloom::graph
