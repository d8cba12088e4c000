#include "graph/views.h"

#include <algorithm>

namespace texloom::graph {
namespace {

bool is_in_concatenation(const Graph& graph, TensorId tensor) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (!node.concat_axis) return false;
    const std::vector<TensorId> tensors = tensors_of(node);
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  });
}

}  // namespace

bool may_share_memory(const Graph& graph, const Node& view) {
  const std::vector<TensorId> tensors = tensors_of(view);
  return std::all_of(tensors.begin(), tensors.end(), [&](TensorId tensor) {
    return graph.tensors[tensor].role == TensorRole::Intermediate &&
           !is_in_concatenation(graph, tensor);
  });
}

}  // namespace texloom::graph
