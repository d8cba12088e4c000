#include "graph/passes/fold_scales.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/passes/common/unique_names.h"
#include "graph/passes/common/unused_tensors.h"
#include "graph/passes/scales/affine.h"
#include "graph/passes/scales/weighted_sums.h"
#include "ir/arith/simplify.h"
#include "ir/interpret/value.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

using ConstantBytes = std::shared_ptr<const std::vector<std::byte>>;

std::size_t bytes_of(ir::Type type) { return static_cast<std::size_t>(type.bits) / 8; }

std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < tensor.value->size(); at += bytes_of(tensor.type))
    numbers.push_back(ir::decode(tensor.type, tensor.value->data() + at).number);
  return numbers;
}

// The numbers, each rounded to the type; null if one is not finite.
ConstantBytes rounded(const std::vector<double>& numbers, ir::Type type) {
  std::vector<std::byte> bytes(numbers.size() * bytes_of(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = ir::rounded(type, numbers[i]);
    if (!std::isfinite(number)) return nullptr;
    ir::encode(type, ir::scalar_of(number), bytes.data() + i * bytes_of(type));
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

// The weights, each times the factor of its channel, rounded once; null if one is not finite.
template <class Number>
ConstantBytes scaled(const Tensor& weight, const WeightChannels& channels,
                     const std::vector<double>& factors) {
  const std::size_t count = weight.value->size() / sizeof(Number);
  std::vector<std::byte> bytes(count * sizeof(Number));
  bool is_finite = true;
  channels.for_each([&](std::size_t i, std::int64_t channel) {
    Number number = 0;
    std::memcpy(&number, weight.value->data() + i * sizeof(Number), sizeof(Number));
    if (channel >= 0)
      number = static_cast<Number>(number * factors[static_cast<std::size_t>(channel)]);
    is_finite = is_finite && std::isfinite(number);
    std::memcpy(bytes.data() + i * sizeof(Number), &number, sizeof(Number));
  });
  if (!is_finite) return nullptr;
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

bool has_kernels_to_make(const Node& node) {
  return node.pattern && node.computation && node.alternatives.empty() && node.members.empty() &&
         node.outputs.size() == 1;
}

// The axis of the output to which an operator moves the axis `from` of its input: index c along
// `from` becomes index c % extent along this axis. nullopt if the operator does anything else.
std::optional<std::size_t> axis_of_moved_channels(const Node& node, std::size_t from) {
  if (!has_kernels_to_make(node) || node.inputs.size() != 1) return std::nullopt;
  const schedule::Op op = schedule::operation_of(node.computation->outputs.front());
  const auto* read = op->is_compute() ? ir::as<ir::TensorRead>(op->body) : nullptr;
  if (read == nullptr || !read->tensor->same_tensor(*node.computation->inputs.front()))
    return std::nullopt;
  ir::arith::Ranges ranges;
  for (const ir::IterVar& axis : op->axes) ranges.enter(axis->var, axis->extent);
  for (std::size_t i = 0; i < op->axes.size(); ++i) {
    const ir::Expr& own = op->axes[i]->var;
    const ir::Expr& extent = op->axes[i]->extent;
    const bool is_read =
        ir::any_of(read->indices[from], [&](const ir::Var& each) { return &each == own.get(); });
    if (!is_read || ir::int_value(extent) == nullptr) continue;
    if (ir::arith::prove_equal(ir::floormod(read->indices[from], extent), own, ranges)) return i;
  }
  return std::nullopt;
}

class Folding {
 public:
  explicit Folding(Graph& graph)
      : graph_(graph), producers_(producers_of(graph)), names_(graph.tensors) {
    count_readers();
  }

  void run() {
    std::vector<bool> is_folded(graph_.nodes.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) is_folded[n] = fold(n);
    if (std::find(is_folded.begin(), is_folded.end(), true) == is_folded.end()) return;
    std::vector<Node> kept;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_folded[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    place_constants();
    remove_dead_nodes(graph_);  // the nodes that computed factors
  }

 private:
  // The operators that compute the input of a scaling node: an operator that computes sums, then
  // operators that only move elements.
  struct Source {
    std::size_t sums = 0;  // the node that computes the sums
    std::size_t last = 0;  // the last node that moves elements of sums, or `sums`
    std::size_t axis = 0;  // the axis of channels in the output of `last`
    WeightedSums weights;
  };

  void count_readers() {
    readers_.assign(graph_.tensors.size(), 0);
    for (const Node& node : graph_.nodes) {
      for (const TensorId id : node.inputs) ++readers_[id];
    }
  }

  bool is_read_once(TensorId id) const {
    return readers_[id] == 1 && graph_.tensors[id].role == TensorRole::Intermediate;
  }

  bool is_known(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    return tensor.value && (tensor.type == ir::kFloat32 || tensor.type == ir::Type::f(64));
  }

  std::optional<Source> source_of(TensorId id) const {
    const auto found = producers_.find(id);
    if (found == producers_.end() || !is_read_once(id)) return std::nullopt;
    const Node& node = graph_.nodes[found->second];
    if (!has_kernels_to_make(node)) return std::nullopt;
    if (*node.pattern == Pattern::Injective && node.inputs.size() == 1) {
      std::optional<Source> source = source_of(node.inputs.front());
      if (!source) return std::nullopt;
      const std::optional<std::size_t> axis = axis_of_moved_channels(node, source->axis);
      if (!axis) return std::nullopt;
      source->last = found->second;
      source->axis = *axis;
      return source;
    }
    if (*node.pattern != Pattern::Contraction) return std::nullopt;
    std::optional<WeightedSums> weights =
        weighted_sums(*node.computation, [&](std::size_t i) { return is_known(node.inputs[i]); });
    if (!weights) return std::nullopt;
    const std::size_t axis = weights->channel_axis;
    return Source{found->second, found->second, axis, std::move(*weights)};
  }

  // Folds a node that scales and shifts an input into the operators that compute this input.
  bool fold(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (!has_kernels_to_make(node) ||
        (*node.pattern != Pattern::Elementwise && *node.pattern != Pattern::Broadcast))
      return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!producers_.contains(node.inputs[i])) continue;
      const std::optional<Source> source = source_of(node.inputs[i]);
      if (!source) continue;
      const std::optional<std::vector<Affine>> scales =
          affine_along(graph_, producers_, node, i, source->axis);
      if (scales && fold(n, *source, *scales)) return true;
    }
    return false;
  }

  bool fold(std::size_t n, const Source& source, const std::vector<Affine>& scales) {
    Node& sums = graph_.nodes[source.sums];
    const WeightedSums& weights = source.weights;
    const auto scale = [&](std::int64_t channel) -> const Affine& {
      return scales[static_cast<std::size_t>(channel) % scales.size()];
    };
    const bool shifts =
        std::any_of(scales.begin(), scales.end(), [](const Affine& e) { return e.shift != 0; });
    const bool scales_any =
        std::any_of(scales.begin(), scales.end(), [](const Affine& e) { return e.factor != 1; });
    const bool is_product = weights.channel_axis + 1 == sums.computation->outputs[0]->shape.size();
    if (is_product && shifts && !scales_any && !weights.bias) return false;

    const Tensor& weight = graph_.tensors[sums.inputs[weights.weight]];
    std::vector<double> factors;
    for (std::int64_t channel = 0; channel < weights.channels; ++channel)
      factors.push_back(scale(channel).factor);
    const ir::Type type = weight.type;
    const ConstantBytes made = type == ir::kFloat32
                                   ? scaled<float>(weight, weights.channel_of, factors)
                                   : scaled<double>(weight, weights.channel_of, factors);
    std::vector<double> biases(static_cast<std::size_t>(weights.channels), 0);
    if (weights.bias) biases = numbers_in(graph_.tensors[sums.inputs[*weights.bias]]);
    for (std::size_t channel = 0; channel < biases.size(); ++channel) {
      const Affine& own = scale(static_cast<std::int64_t>(channel));
      const double product = biases[channel] * own.factor;
      biases[channel] = product + own.shift;
    }
    const ConstantBytes bias = rounded(biases, type);
    if (!made || !bias) return false;
    replace(n, source, made, weights.bias || shifts || !is_product ? bias : nullptr);
    return true;
  }

  // Gives the sums new constants; `bias` is null if there is none. The last operator of the source
  // then computes the output of node `n`.
  void replace(std::size_t n, const Source& source, const ConstantBytes& weight,
               const ConstantBytes& bias) {
    Node& sums = graph_.nodes[source.sums];
    TensorId& weight_id = sums.inputs[source.weights.weight];
    const Tensor old = graph_.tensors[weight_id];
    weight_id = add(replaced_name(weight_id), old.type, old.shape, weight, sums);
    if (bias && source.weights.bias) {
      TensorId& id = sums.inputs[*source.weights.bias];
      id = add(replaced_name(id), old.type, graph_.tensors[id].shape, bias, sums);
    } else if (bias) {
      sums.inputs.push_back(add(names_.unused(old.name + ".bias"), old.type,
                                {Size(source.weights.channels)}, bias, sums));
      sums.computation = with_bias(*sums.computation, source.weights);
    }
    Node& last = graph_.nodes[source.last];
    const TensorId inner = last.outputs.front(), outer = graph_.nodes[n].outputs.front();
    if (graph_.tensors[outer].role == TensorRole::Intermediate)
      graph_.tensors[outer].name = graph_.tensors[inner].name;
    last.outputs = {outer};
    producers_[outer] = source.last;
    producers_.erase(inner);
  }

  // The name for the replacement of a constant: the constant's own name if nothing else reads the
  // constant, which is then removed.
  std::string replaced_name(TensorId id) {
    const std::string& name = graph_.tensors[id].name;
    return readers_[id] == 1 ? name : names_.unused(name + ".scaled");
  }

  TensorId add(std::string name, ir::Type type, Shape shape, ConstantBytes value,
               const Node& reader) {
    readers_.push_back(1);
    before_.emplace_back(reader.outputs.front());
    return graph_.add_constant(std::move(name), type, std::move(shape), std::move(value));
  }

  // Numbers each new constant before the tensor that is computed from it.
  void place_constants() {
    std::vector<std::vector<TensorId>> constants(graph_.tensors.size());
    const std::size_t old = graph_.tensors.size() - before_.size();
    for (std::size_t i = 0; i < before_.size(); ++i)
      constants[before_[i]].push_back(static_cast<TensorId>(old + i));
    std::vector<TensorId> order;
    for (TensorId id = 0; id < old; ++id) {
      order.insert(order.end(), constants[id].begin(), constants[id].end());
      order.push_back(id);
    }
    order_tensors(graph_, order);
  }

  Graph& graph_;
  Producers producers_;
  std::vector<std::size_t> readers_;  // by tensor
  std::vector<TensorId> before_;      // for each new constant, the tensor that is computed from it
  UniqueNames names_;
};

}  // namespace

void fold_scales(Graph& graph) { Folding(graph).run(); }

}  // namespace texloom::graph
