#include "graph/views.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/analysis/movement.h"

namespace texloom::graph {
namespace {

bool is_in_concatenation(const Graph& graph, TensorId tensor) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (!node.concat_axis) return false;
    const std::vector<TensorId> tensors = tensors_of(node);
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  });
}

// Whether a node is a contraction with constant weights of this rank.
bool is_convolution(const Graph& graph, const Node& node, std::size_t rank) {
  return node.pattern == Pattern::Contraction && std::ranges::any_of(node.inputs, [&](TensorId id) {
           const Tensor& tensor = graph.tensors[id];
           return tensor.role == TensorRole::Constant && tensor.shape.size() == rank;
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

bool moves_channels_of_convolution(const Graph& graph, const Node& node) {
  if (node.pattern != Pattern::Injective || !node.computation) return false;
  const auto order = permuted_axes(*node.computation);
  if (!order) return false;
  const bool is_last = moves_channels_last(*order);
  if (!is_last && !moves_channels_last(inverse(*order))) return false;
  const TensorId image = is_last ? node.inputs.front() : node.outputs.front();
  return std::ranges::any_of(graph.nodes, [&](const Node& other) {
    const auto has_image = [&](const std::vector<TensorId>& tensors) {
      return std::ranges::find(tensors, image) != tensors.end();
    };
    return (has_image(other.inputs) || has_image(other.outputs)) &&
           is_convolution(graph, other, order->size());
  });
}

}  // namespace texloom::graph
