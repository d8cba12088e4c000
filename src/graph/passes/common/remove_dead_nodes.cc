#include "graph/passes/common/remove_dead_nodes.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "graph/passes/common/unused_tensors.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

// Removes the outputs of an operator that nothing wants, where each is a computation of its own.
void remove_outputs(Node& node, const std::vector<bool>& wanted) {
  const bool is_changeable = node.computation && node.members.empty() && node.alternatives.empty();
  if (!is_changeable || node.outputs.size() == 1) return;
  const auto is_unwanted = [&](TensorId id) { return !wanted[id]; };
  if (std::ranges::none_of(node.outputs, is_unwanted)) return;
  auto kept = std::make_shared<Computation>(*node.computation);
  for (std::size_t i = node.outputs.size(); i-- > 0;) {
    const schedule::Op op = schedule::operation_of(kept->outputs[i]);
    if (wanted[node.outputs[i]] || op->types.size() != 1) continue;
    node.outputs.erase(node.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    kept->outputs.erase(kept->outputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  node.computation = std::move(kept);
}

}  // namespace

void remove_dead_nodes(Graph& graph) {
  std::vector<bool> wanted(graph.tensors.size());
  for (const TensorId id : graph.outputs) wanted[id] = true;
  std::vector<Node> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    const bool is_alive = node.call || std::any_of(node.outputs.begin(), node.outputs.end(),
                                                   [&](TensorId id) { return wanted[id]; });
    if (!is_alive) continue;
    remove_outputs(node, wanted);
    for (const TensorId id : node.inputs) wanted[id] = true;
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  remove_unused_tensors(graph);
}

}  // namespace texloom::graph
