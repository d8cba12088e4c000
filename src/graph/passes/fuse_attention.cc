#include "graph/passes/fuse_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/analysis/movement.h"
#include "graph/build_computation.h"
#include "graph/passes/common/remove_dead_nodes.h"
#include "ir/interpret/value.h"
#include "ir/program.h"
#include "schedule/operation/operation.h"
#include "schedule/operation/replace.h"

namespace texloom::graph {
namespace {

// The last stage of an operator of one output, if it is an expression without sums; else null.
const schedule::Operation* last_stage(const Node& node) {
  if (!node.pattern || !node.computation || node.outputs.size() != 1) return nullptr;
  const schedule::Operation* op = schedule::operation_of(node.computation->outputs.front()).get();
  return op->is_compute() && op->reduce_axes.empty() && op->types.size() == 1 ? op : nullptr;
}

// The number of the input that a stage reads by an expression that is one element, at the indices
// of the stage; nullopt for other expressions.
std::optional<std::size_t> input_read(const Node& node, const schedule::Operation& op,
                                      const ir::Expr& e) {
  const auto* read = ir::as<ir::TensorRead>(e);
  if (read == nullptr || !reads_own_indices(op, *read)) return std::nullopt;
  const auto& inputs = node.computation->inputs;
  const auto place = std::ranges::find_if(
      inputs, [&](const ir::Tensor& each) { return read->tensor->same_tensor(*each); });
  if (place == inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(place - inputs.begin());
}

// Whether the node only converts the type of the elements of its input.
bool is_cast(const Node& node) {
  const schedule::Operation* op = last_stage(node);
  const auto* cast = op == nullptr ? nullptr : ir::as<ir::Cast>(op->body);
  const auto* read = cast == nullptr ? nullptr : ir::as<ir::TensorRead>(cast->value);
  return read != nullptr && schedule::operation_of(read->tensor)->is_placeholder() &&
         reads_own_indices(*op, *read);
}

// The operation that combines the node's first input with its second one, element by element;
// nullopt if the node computes anything else.
std::optional<ir::BinaryOp> combination(const Node& node) {
  const schedule::Operation* op = last_stage(node);
  const auto* both = op == nullptr ? nullptr : ir::as<ir::Binary>(op->body);
  if (both == nullptr || node.inputs.size() != 2) return std::nullopt;
  if (input_read(node, *op, both->a) != 0 || input_read(node, *op, both->b) != 1)
    return std::nullopt;
  return both->op;
}

// Whether the node only moves elements of its input.
bool is_move(const Node& node) {
  const schedule::Operation* op = last_stage(node);
  const auto* read = op == nullptr ? nullptr : ir::as<ir::TensorRead>(op->body);
  return read != nullptr && node.inputs.size() == 1 && node.computation->symbols.empty() &&
         read->tensor->same_tensor(*node.computation->inputs.front());
}

// Whether the node tells which elements of its input are NaN.
bool is_nan_test(const Node& node) {
  const schedule::Operation* op = last_stage(node);
  const auto* test = op == nullptr ? nullptr : ir::as<ir::Binary>(op->body);
  return test != nullptr && test->op == ir::BinaryOp::Ne && input_read(node, *op, test->a) == 0 &&
         input_read(node, *op, test->b) == 0;
}

struct Scaled {
  double factor = 1;
  TensorId tensor = 0;  // the tensor that is multiplied by `factor`
};

// An operand of attention, as elements of a tensor.
struct Operand {
  TensorId source = 0;
  std::vector<const Node*> moves;  // from the source to the operand
  double factor = 1;
};

// A computation that a library made of the parts, and which keeps them; null without computations.
SharedComputation with_parts(const SharedComputation& made, AttentionParts parts) {
  if (made == nullptr) return nullptr;
  Computation kept = *made;
  kept.attention = std::make_shared<const AttentionParts>(std::move(parts));
  return std::make_shared<const Computation>(std::move(kept));
}

inline constexpr std::size_t kMostMasks = 3;

class AttentionFusion {
 public:
  AttentionFusion(Graph& graph, const KernelLibrary& kernels)
      : graph_(graph), kernels_(kernels), producers_(producers_of(graph)) {}

  void run() {
    bool found = false;
    for (Node& node : graph_.nodes) found |= fuse(node);
    if (found) remove_dead_nodes(graph_);
  }

 private:
  const Tensor& tensor(TensorId id) const { return graph_.tensors[id]; }

  // The operator that computes a tensor, ignoring conversions to float32, the type in which
  // attention computes; null for inputs and constants.
  const Node* origin(TensorId id) const {
    for (;;) {
      const auto found = producers_.find(id);
      if (found == producers_.end()) return nullptr;
      const Node& node = graph_.nodes[found->second];
      if (!is_cast(node) || tensor(id).type.bits > 32) return &node;
      id = node.inputs.front();
      if (!tensor(id).type.is_float()) return nullptr;
    }
  }

  const Node* product(TensorId id) const {
    const Node* node = origin(id);
    return node != nullptr && is_product(*node) ? node : nullptr;
  }
  static bool is_product(const Node& node) {
    return node.pattern == Pattern::Contraction && node.inputs.size() == 2 &&
           node.outputs.size() == 1 && node.members.empty() && node.alternatives.empty();
  }

  std::optional<double> number(TensorId id) const {
    const Tensor& constant = tensor(id);
    if (!constant.value || constant.role != TensorRole::Constant) return std::nullopt;
    const bool is_one = std::ranges::all_of(constant.shape, [](const Size& e) { return e == 1; });
    if (!is_one || !constant.type.is_float()) return std::nullopt;
    return ir::decode(constant.type, constant.value->data()).number;
  }

  // A tensor as the product of a number and a tensor: 1 and the tensor itself if it is not a
  // product.
  Scaled scaled(TensorId id) const {
    const Node* node = origin(id);
    const auto op = node == nullptr ? std::nullopt : combination(*node);
    if (op != ir::BinaryOp::Mul && op != ir::BinaryOp::Div) return {1, id};
    TensorId inner = node->inputs[0];
    std::optional<double> factor = number(node->inputs[1]);
    if (!factor && op == ir::BinaryOp::Mul) {
      inner = node->inputs[1];
      factor = number(node->inputs[0]);
    }
    if (!factor || tensor(inner).shape != tensor(id).shape) return {1, id};
    if (op == ir::BinaryOp::Mul) return {*factor, inner};
    return *factor == 0 ? Scaled{1, id} : Scaled{1 / *factor, inner};
  }

  // The tensor in which an operator replaces NaN by 0, as torch's exporter writes it:
  // where(isnan(x), 0, x). nullopt for other operators.
  std::optional<TensorId> before_nan_test(const Node* node) const {
    const schedule::Operation* op = node == nullptr ? nullptr : last_stage(*node);
    const auto* choice = op == nullptr ? nullptr : ir::as<ir::Select>(op->body);
    if (choice == nullptr) return std::nullopt;
    const auto test = input_read(*node, *op, choice->condition);
    const auto zero = input_read(*node, *op, choice->if_true);
    const auto own = input_read(*node, *op, choice->if_false);
    if (!test || !zero || !own || number(node->inputs[*zero]) != 0) return std::nullopt;
    const TensorId tested = node->inputs[*own];
    const auto found = producers_.find(node->inputs[*test]);
    if (found == producers_.end()) return std::nullopt;
    const Node& tester = graph_.nodes[found->second];
    const bool is_test = is_nan_test(tester) && tester.inputs.front() == tested &&
                         tensor(tested).shape == tensor(node->outputs.front()).shape;
    return is_test ? std::optional(tested) : std::nullopt;
  }

  // Replaces the product of a softmax with the values by one operator for all of attention.
  bool fuse(Node& node) {
    if (!is_product(node)) return false;
    const Node* weights = origin(node.inputs[0]);
    const auto tested = before_nan_test(weights);
    if (tested) weights = origin(*tested);
    if (weights == nullptr || weights->pattern != Pattern::Reduction ||
        weights->inputs.size() != 1 || weights->outputs.size() != 1)
      return false;
    std::vector<TensorId> masks;
    const auto scores = without_masks(weights->inputs.front(), masks);
    return scores && replace(node, *weights, *scores, masks, tested.has_value());
  }

  // The tensor to which at most kMostMasks masks are added, which is a product, or a scaled one.
  // The masks are in the order of the additions. nullopt if there is no such tensor.
  std::optional<TensorId> without_masks(TensorId id, std::vector<TensorId>& masks,
                                        std::size_t most = kMostMasks) const {
    if (product(scaled(id).tensor) != nullptr) return id;
    const Node* node = origin(id);
    if (node == nullptr || combination(*node) != ir::BinaryOp::Add || most == 0)
      return std::nullopt;
    for (const std::size_t i : {0, 1}) {
      const TensorId inner = node->inputs[i];
      if (tensor(inner).shape != tensor(id).shape) continue;
      if (const auto scores = without_masks(inner, masks, most - 1)) {
        masks.push_back(node->inputs[1 - i]);
        return scores;
      }
    }
    return std::nullopt;
  }

  bool replace(Node& node, const Node& weights, TensorId scores, const std::vector<TensorId>& masks,
               bool hides_nan) {
    const Scaled scale = scaled(scores);
    const Node* first = product(scale.tensor);
    if (first == nullptr || tensor(scale.tensor).shape != tensor(node.inputs[0]).shape)
      return false;
    std::vector<TensorId> given = {first->inputs[0], first->inputs[1], node.inputs[1]};
    const ir::Type type = tensor(given.front()).type;
    for (const TensorId id : given) {
      if (tensor(id).type != type || !type.is_float() || tensor(id).shape.size() < 2) return false;
    }
    given.insert(given.end(), masks.begin(), masks.end());
    for (const TensorId id : given) {
      if (!numbers_of(tensor(id).shape)) return false;
    }
    AttentionParts parts{.scores = first->computation,
                         .weights = weights.computation,
                         .product = node.computation,
                         .inputs = {},
                         .operands = {},
                         .scale = scale.factor,
                         .factor = 1,
                         .order = {},
                         .hides_nan = hides_nan};
    std::vector<TensorId> sources;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Operand operand = operand_of(given[i], /*may_scale=*/i < 2);
      parts.factor *= operand.factor;
      auto place = std::ranges::find(sources, operand.source);
      if (place == sources.end()) {
        const Tensor& source = tensor(operand.source);
        parts.inputs.push_back(placeholder(fmt::format("in{}", sources.size()), source.type,
                                           extents_of(*numbers_of(source.shape)), node.location));
        place = sources.insert(sources.end(), operand.source);
      }
      parts.operands.push_back(
          moved(parts.inputs[static_cast<std::size_t>(place - sources.begin())], operand));
    }
    Node* mover = kernels_.moves_operands ? only_reader(node.outputs.front()) : nullptr;
    if (mover != nullptr) {
      const bool may_permute = is_plain(*mover) && mover->pattern == Pattern::Injective;
      const auto order = may_permute ? permuted_axes(*mover->computation) : std::nullopt;
      if (order) parts.order = *order;
      if (!order) mover = nullptr;
    }
    std::vector<ir::Type> stored;
    for (const TensorId id : sources) stored.push_back(tensor(id).type);
    const auto made = kernels_.attention(parts, stored);
    if (!made) return false;
    node.op = "attention";
    node.inputs = std::move(sources);
    node.attributes.clear();
    node.pattern = Pattern::Opaque;
    node.computation = with_parts(*made, std::move(parts));
    if (mover != nullptr) write_moved(node, *mover);
    return true;
  }

  // Lets a node write the output of its only reader; nothing reads what the reader writes now.
  void write_moved(Node& node, Node& mover) {
    node.name = mover.name;
    std::swap(node.outputs, mover.outputs);
    mover.inputs = node.outputs;
    const auto number_of = [&](const Node& n) {
      return static_cast<std::size_t>(&n - graph_.nodes.data());
    };
    producers_.insert_or_assign(node.outputs.front(), number_of(node));
    producers_.insert_or_assign(mover.outputs.front(), number_of(mover));
  }

  // The node that is alone in reading a tensor; null if there are several, or if the tensor is an
  // output of the graph.
  Node* only_reader(TensorId id) {
    Node* reader = nullptr;
    if (tensor(id).role != TensorRole::Intermediate) return nullptr;
    for (Node& node : graph_.nodes) {
      if (std::ranges::find(node.inputs, id) == node.inputs.end()) continue;
      if (reader != nullptr) return nullptr;
      reader = &node;
    }
    return reader;
  }

  // What an operand of the products is. Without kernels that move operands, it is itself.
  Operand operand_of(TensorId id, bool may_scale) const {
    Operand operand{.source = id, .moves = {}, .factor = 1};
    while (kernels_.moves_operands) {
      const auto found = producers_.find(operand.source);
      if (found == producers_.end()) break;
      const Node& node = graph_.nodes[found->second];
      const Scaled scale = scaled(operand.source);
      if (is_move(node) && numbers_of(tensor(node.inputs.front()).shape)) {
        operand.moves.insert(operand.moves.begin(), &node);
        operand.source = node.inputs.front();
      } else if (may_scale && scale.tensor != operand.source &&
                 tensor(scale.tensor).type == tensor(id).type) {
        operand.factor *= scale.factor;
        operand.source = scale.tensor;
      } else {
        break;
      }
    }
    return operand;
  }

  // The stage that moves elements of a source to their places in an operand.
  ir::Tensor moved(const ir::Tensor& source, const Operand& operand) const {
    if (operand.moves.empty()) return source;
    ir::Tensor value = source;
    for (const Node* node : operand.moves) {
      schedule::Replacements replacements;
      replacements.add(node->computation->inputs.front(), value);
      value = schedule::with_replacements(node->computation->outputs, replacements).front();
    }
    return value;
  }

  Graph& graph_;
  const KernelLibrary& kernels_;
  Producers producers_;
};

}  // namespace

void fuse_attention(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  if (kernels.attention) AttentionFusion(graph, kernels).run();
}

}  // namespace texloom::graph
