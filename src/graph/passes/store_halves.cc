#include "graph/passes/store_halves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/analysis/growth.h"
#include "support/half.h"

namespace texloom::graph {
namespace {

std::size_t elements_of(const Tensor& constant) { return constant.value->size() / sizeof(float); }

float element(const Tensor& constant, std::size_t index) {
  float value = 0;
  std::memcpy(&value, constant.value->data() + index * sizeof value, sizeof value);
  return value;
}

bool is_worth_rounding(const Tensor& constant) {
  const auto is_long = [](const Size& extent) { return extent.constant().value_or(0) > 1; };
  if (std::count_if(constant.shape.begin(), constant.shape.end(), is_long) < 2) return false;
  if (!constant.value) return true;
  for (std::size_t i = 0; i < elements_of(constant); ++i) {
    const float value = element(constant, i);
    if (std::isfinite(value) && std::isinf(float_of_half(half_of_float(value)))) return false;
  }
  return true;
}

std::shared_ptr<const std::vector<std::byte>> halves_of(const Tensor& constant) {
  const std::size_t count = elements_of(constant);
  auto halves = std::make_shared<std::vector<std::byte>>(count * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t half = half_of_float(element(constant, i));
    std::memcpy(halves->data() + i * sizeof half, &half, sizeof half);
  }
  return halves;
}

class Narrowing {
 public:
  explicit Narrowing(Graph& graph)
      : graph_(graph),
        one_type_(graph.tensors.size()),
        is_exact_(graph.tensors.size()),
        is_sum_(graph.tensors.size()),
        is_added_up_(graph.tensors.size()) {
    std::iota(one_type_.begin(), one_type_.end(), 0);
    for (const Tensor& tensor : graph.tensors) {
      stays_.push_back(!may_be_rounded(tensor));
      const bool is_constant = tensor.role == TensorRole::Constant;
      growth_.push_back(is_constant ? Growth::Scale : Growth::Linear);
    }
  }

  void run() {
    for (const Node& node : graph_.nodes) follow(node);
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) visit(*node);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      const bool overflows = is_added_up_[id] && growth_[id] == Growth::Large;
      if (stays_[id] || is_exact_[id] || is_sum_[id] || overflows) stays_[first_of(id)] = true;
    }
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      Tensor& tensor = graph_.tensors[id];
      if (stays_[first_of(id)]) continue;
      if (tensor.value) tensor.value = halves_of(tensor);
      tensor.type = ir::Type::f(16);
    }
  }

 private:
  static bool may_be_rounded(const Tensor& tensor) {
    if (tensor.type != ir::kFloat32) return false;
    if (tensor.role == TensorRole::Constant) return is_worth_rounding(tensor);
    return tensor.role == TensorRole::Intermediate;
  }

  static bool is_computed(const Node& node) {
    return node.pattern && node.computation && node.alternatives.empty() &&
           node.outputs.size() == 1;
  }

  // Whether the node reduces at least one whole axis of its only input.
  bool sums_axes(const Node& node) const {
    const bool reduces =
        is_computed(node) && node.inputs.size() == 1 &&
        (node.pattern == Pattern::Reduction || node.pattern == Pattern::Contraction);
    if (!reduces) return false;
    const Shape& from = graph_.tensors[node.inputs.front()].shape;
    const Shape& to = graph_.tensors[node.outputs.front()].shape;
    if (to.size() < from.size()) return true;
    for (std::size_t i = 0; i < from.size() && from.size() == to.size(); ++i) {
      if (to[i].constant() == 1 && from[i].constant() != 1) return true;
    }
    return false;
  }

  // Finds sums and the growth of the node's outputs. The nodes before it have been followed.
  void follow(const Node& node) {
    const bool is_moved = node.concat_axis || node.is_view;
    const bool is_elementwise =
        is_moved || (is_computed(node) && *node.pattern <= Pattern::Injective);
    if (sums_axes(node)) {
      is_sum_[node.outputs.front()] = true;
      growth_[node.outputs.front()] = Growth::Scale;
    } else if (is_elementwise) {
      const bool is_sum = depends_on_sums_alone(node);
      is_sum_[node.outputs.front()] = is_sum;
      growth_[node.outputs.front()] = is_sum ? Growth::Scale : growth_of_output(node);
    }
  }

  bool depends_on_sums_alone(const Node& node) const {
    const auto is_sum = [&](TensorId id) { return bool{is_sum_[id]}; };
    const auto is_sum_or_constant = [&](TensorId id) {
      return is_sum_[id] || graph_.tensors[id].role == TensorRole::Constant;
    };
    return std::ranges::any_of(node.inputs, is_sum) &&
           std::ranges::all_of(node.inputs, is_sum_or_constant);
  }

  Growth growth_of_output(const Node& node) const {
    std::vector<Growth> inputs;
    for (const TensorId id : node.inputs) inputs.push_back(growth_[id]);
    if (node.computation && !node.concat_axis) return growth_of(*node.computation, inputs);
    return inputs.empty() ? Growth::Linear : std::ranges::max(inputs);
  }

  // Decides on the types of a node's tensors. All readers of its outputs have been visited before.
  void visit(const Node& node) {
    const std::vector<TensorId> tensors = tensors_of(node);
    const bool is_moved_whole = node.concat_axis || node.is_view;
    if (is_moved_whole) {
      for (const TensorId id : tensors) have_one_type(tensors.front(), id);
    } else if (!node.pattern || !node.alternatives.empty()) {
      for (const TensorId id : tensors) stays_[id] = true;
      return;
    }
    const bool passes_on = is_moved_whole || *node.pattern <= Pattern::Injective;
    const bool adds_up = passes_on ? is_added_up_[node.outputs.front()]
                                   : *node.pattern == Pattern::Reduction || sums_axes(node);
    if (adds_up) {
      for (const TensorId id : node.inputs) is_added_up_[id] = true;
    }
    if (makes_integers(node) || (passes_on && writes_exact(node))) {
      for (const TensorId id : node.inputs) is_exact_[id] = true;
    }
    for (const std::size_t input : node.coordinates) is_exact_[node.inputs[input]] = true;
  }

  bool writes_exact(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](TensorId id) { return is_exact_[id]; });
  }

  bool makes_integers(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](TensorId id) { return graph_.tensors[id].type.is_integer(); });
  }

  void have_one_type(TensorId a, TensorId b) { one_type_[first_of(a)] = first_of(b); }

  // The representative of a set of tensors that must have the same type.
  TensorId first_of(TensorId id) {
    while (one_type_[id] != id) id = one_type_[id] = one_type_[one_type_[id]];
    return id;
  }

  Graph& graph_;
  std::vector<TensorId> one_type_;  // for each tensor, another of the same type, or itself
  std::vector<bool> stays_;         // for each tensor, whether its type must not change
  std::vector<bool> is_exact_;      // for each tensor, whether integers or coordinates depend on it
  std::vector<bool> is_sum_;  // for each tensor, whether it is computed from sums over axes alone
  std::vector<bool> is_added_up_;  // for each tensor, whether its elements are terms of sums
  std::vector<Growth> growth_;     // for each tensor
};

}  // namespace

void store_halves(Graph& graph) { Narrowing(graph).run(); }

}  // namespace texloom::graph
