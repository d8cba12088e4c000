#include "graph/passes/common/unused_tensors.h"

#include <utility>
#include <vector>

namespace texloom::graph {
namespace {

// Calls a function with each list of tensors of the node and of its members.
template <class F>
void for_each_list(Node& node, const F& use) {
  use(node.inputs);
  use(node.outputs);
  for (Node& member : node.members) for_each_list(member, use);
}

template <class F>
void for_each_list(Graph& graph, const F& use) {
  use(graph.inputs);
  use(graph.outputs);
  for (Node& node : graph.nodes) for_each_list(node, use);
}

}  // namespace

void remove_unused_tensors(Graph& graph) {
  std::vector<bool> used(graph.tensors.size());
  for_each_list(graph, [&](const std::vector<TensorId>& list) {
    for (const TensorId id : list) used[id] = true;
  });
  std::vector<TensorId> kept;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (used[id]) kept.push_back(id);
  }
  order_tensors(graph, kept);
}

void order_tensors(Graph& graph, const std::vector<TensorId>& order) {
  std::vector<TensorId> number(graph.tensors.size());
  std::vector<Tensor> kept;
  for (const TensorId id : order) {
    number[id] = static_cast<TensorId>(kept.size());
    kept.push_back(std::move(graph.tensors[id]));
  }
  graph.tensors = std::move(kept);
  for_each_list(graph, [&](std::vector<TensorId>& list) {
    for (TensorId& id : list) id = number[id];
  });
}

}  // namespace texloom::graph
