#include "graph/graph.h"

#include <utility>

#include "support/check.h"

namespace texloom::graph {
std::optional<ir::Shape> numbers_of(const Shape& shape) {
  ir::Shape numbers;
  for (const Size& extent : shape) {
    const auto number = extent.constant();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

TensorId Graph::add_input(std::string tensor, ir::Type type, Shape shape) {
  inputs.push_back(add_edge(std::move(tensor), type, std::move(shape)));
  tensors.back().role = TensorRole::Input;
  return inputs.back();
}

TensorId Graph::add_constant(std::string tensor, ir::Type type, Shape shape,
                             std::shared_ptr<const std::vector<std::byte>> value) {
  const TensorId id = add_edge(std::move(tensor), type, std::move(shape));
  tensors.back().role = TensorRole::Constant;
  tensors.back().value = std::move(value);
  return id;
}

TensorId Graph::add_edge(std::string tensor, ir::Type type, Shape shape) {
  tensors.push_back({std::move(tensor), type, std::move(shape)});
  return static_cast<TensorId>(tensors.size() - 1);
}

void Graph::mark_output(TensorId tensor) {
  TL_CHECK(tensor < tensors.size());
  if (tensors[tensor].role == TensorRole::Intermediate) tensors[tensor].role = TensorRole::Output;
  outputs.push_back(tensor);
}

Producers producers_of(const Graph& graph) {
  Producers producers;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const TensorId id : graph.nodes[n].outputs) producers.emplace(id, n);
  }
  return producers;
}

bool is_plain(const Node& node) {
  return node.computation && node.outputs.size() == 1 && node.members.empty() &&
         node.alternatives.empty();
}

std::vector<TensorId> tensors_of(const Node& node) {
  std::vector<TensorId> tensors = node.inputs;
  tensors.insert(tensors.end(), node.outputs.begin(), node.outputs.end());
  return tensors;
}

}  // namespace texloom::graph
