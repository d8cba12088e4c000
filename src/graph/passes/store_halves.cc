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
      : graph_(graph), one_type_(graph.tensors.size()), is_exact_(graph.tensors.size()) {
    std::iota(one_type_.begin(), one_type_.end(), 0);
    for (const Tensor& tensor : graph.tensors) stays_.push_back(!may_be_rounded(tensor));
  }

  void run() {
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) visit(*node);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      if (stays_[id] || is_exact_[id]) stays_[first_of(id)] = true;
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
};

}  // namespace

void store_halves(Graph& graph) { Narrowing(graph).run(); }

}  // namespace texloom::graph
