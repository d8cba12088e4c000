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
      ranges_.push_back(tensor.role == TensorRole::Constant ? range_of(tensor) : ValueRange());
    }
  }

  void run() {
    for (const Node& node : graph_.nodes) follow(node);
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) visit(*node);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      const bool overflows = is_added_up_[id] && ranges_[id].growth == Growth::Large;
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

  static ValueRange range_of(const Tensor& constant) {
    ValueRange range{.growth = Growth::Scale};
    if (constant.type != ir::kFloat32 || !constant.value || elements_of(constant) == 0)
      return range;
    range.least = element(constant, 0);
    for (std::size_t i = 1; i < elements_of(constant); ++i)
      range.least = std::min<double>(range.least, element(constant, i));
    return range;
  }

  static bool is_moved_whole(const Node& node) { return node.concat_axis || node.is_view; }

  static bool is_operator(const Node& node) { return node.pattern && node.alternatives.empty(); }

  // How each output of an operator depends on its inputs. A computation of several outputs is
  // opaque, although each output may only be a part of the input.
  static std::vector<Pattern> patterns_of(const Node& node) {
    std::vector<Pattern> patterns;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const bool is_one_of_several = node.computation && node.outputs.size() > 1;
      patterns.push_back(is_one_of_several ? pattern_of({.inputs = node.computation->inputs,
                                                         .outputs = {node.computation->outputs[i]}})
                                           : *node.pattern);
    }
    return patterns;
  }

  // Whether an output with this pattern is the sum over at least one whole axis of the only input.
  bool sums_axes(const Node& node, Pattern pattern, TensorId output) const {
    const bool reduces = node.computation && node.inputs.size() == 1 &&
                         (pattern == Pattern::Reduction || pattern == Pattern::Contraction);
    if (!reduces) return false;
    const Shape& from = graph_.tensors[node.inputs.front()].shape;
    const Shape& to = graph_.tensors[output].shape;
    if (to.size() < from.size()) return true;
    for (std::size_t i = 0; i < from.size() && from.size() == to.size(); ++i) {
      if (to[i].constant() == 1 && from[i].constant() != 1) return true;
    }
    return false;
  }

  // Finds sums and the ranges of the node's outputs. The nodes before it have been followed.
  void follow(const Node& node) {
    if (is_moved_whole(node)) {
      follow_elements(node, 0, joined_range(node));
    } else if (is_operator(node)) {
      const std::vector<Pattern> patterns = patterns_of(node);
      const std::vector<ValueRange> ranges = ranges_of(node);
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const TensorId output = node.outputs[i];
        if (sums_axes(node, patterns[i], output)) {
          is_sum_[output] = true;
          ranges_[output] = {.growth = Growth::Scale};
        } else if (patterns[i] <= Pattern::Injective) {
          follow_elements(node, i, ranges[i]);
        } else if (patterns[i] != Pattern::Contraction) {  // such as the maximum of a window
          ranges_[output] = {.growth = std::max(joined_range(node).growth, Growth::Linear)};
        }
      }
    }
  }

  // Follows an output whose elements are computed from the elements of the inputs, one by one.
  void follow_elements(const Node& node, std::size_t number, const ValueRange& range) {
    const TensorId output = node.outputs[number];
    is_sum_[output] = depends_on_sums_alone(node);
    ranges_[output] = range;
    if (is_sum_[output]) ranges_[output].growth = Growth::Scale;
  }

  bool depends_on_sums_alone(const Node& node) const {
    const auto is_sum = [&](TensorId id) { return bool{is_sum_[id]}; };
    const auto is_sum_or_constant = [&](TensorId id) {
      return is_sum_[id] || graph_.tensors[id].role == TensorRole::Constant;
    };
    return std::ranges::any_of(node.inputs, is_sum) &&
           std::ranges::all_of(node.inputs, is_sum_or_constant);
  }

  // The range of each output, if it is computed element by element.
  std::vector<ValueRange> ranges_of(const Node& node) const {
    if (!node.computation) return std::vector<ValueRange>(node.outputs.size());
    std::vector<ValueRange> inputs;
    for (const TensorId id : node.inputs) inputs.push_back(ranges_[id]);
    return value_ranges(*node.computation, inputs);
  }

  // The range of all elements of the inputs.
  ValueRange joined_range(const Node& node) const {
    if (node.inputs.empty()) return {};
    ValueRange range = ranges_[node.inputs.front()];
    for (const TensorId id : node.inputs) {
      range.growth = std::max(range.growth, ranges_[id].growth);
      range.least = std::min(range.least, ranges_[id].least);
    }
    return range;
  }

  // Decides on the types of a node's tensors. All readers of its outputs have been visited before.
  void visit(const Node& node) {
    const std::vector<TensorId> tensors = tensors_of(node);
    if (is_moved_whole(node)) {
      for (const TensorId id : tensors) have_one_type(tensors.front(), id);
    } else if (!is_operator(node)) {
      for (const TensorId id : tensors) stays_[id] = true;
      return;
    }
    const std::vector<Pattern> patterns =
        is_moved_whole(node) ? std::vector{Pattern::Injective} : patterns_of(node);
    bool adds_up = false, is_exact = makes_integers(node);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const TensorId output = node.outputs[i];
      const bool passes_on = patterns[i] <= Pattern::Injective;
      adds_up |= passes_on
                     ? is_added_up_[output]
                     : patterns[i] == Pattern::Reduction || sums_axes(node, patterns[i], output);
      is_exact |= passes_on && is_exact_[output];
    }
    for (const TensorId id : node.inputs) {
      if (adds_up) is_added_up_[id] = true;
      if (is_exact) is_exact_[id] = true;
    }
    for (const std::size_t input : node.coordinates) is_exact_[node.inputs[input]] = true;
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
  std::vector<bool> is_added_up_;   // for each tensor, whether its elements are terms of sums
  std::vector<ValueRange> ranges_;  // for each tensor
};

}  // namespace

void store_halves(Graph& graph) { Narrowing(graph).run(); }

}  // namespace texloom::graph
