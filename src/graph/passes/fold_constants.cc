#include "graph/passes/fold_constants.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "graph/passes/common/unused_tensors.h"

namespace texloom::graph {
namespace {

bool is_known(const Tensor& tensor) { return tensor.role == TensorRole::Constant && tensor.value; }

// Whether the node is an operator that computes only intermediate tensors, from known constants.
bool may_fold(const Graph& graph, const Node& node) {
  return node.pattern && node.computation && node.alternatives.empty() && node.members.empty() &&
         !node.inputs.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](TensorId id) { return is_known(graph.tensors[id]); }) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
           return graph.tensors[id].role == TensorRole::Intermediate;
         });
}

// Makes the node's outputs constants. False if the node stays.
bool fold(Graph& graph, const Node& node) {
  if (!may_fold(graph, node)) return false;
  std::vector<Elements> inputs;
  for (const TensorId id : node.inputs) inputs.push_back(graph.tensors[id].value);
  std::optional<std::vector<Elements>> outputs =
      evaluated(*node.computation, inputs, kMostFoldingSteps);
  if (!outputs) return false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    Tensor& tensor = graph.tensors[node.outputs[i]];
    tensor.role = TensorRole::Constant;
    tensor.value = std::move((*outputs)[i]);
  }
  return true;
}

}  // namespace

void fold_constants(Graph& graph) {
  const std::size_t before = graph.nodes.size();
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    if (!fold(graph, node)) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  if (graph.nodes.size() < before) remove_unused_tensors(graph);
}

}  // namespace texloom::graph
