#include "graph/passes/scales/weighted_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/reducer.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

using ir::Expr;
using ir::Exprs;
using schedule::Op;

// The name of the stage of convolutions in texloom.ops that adds the bias. with_bias() adds the
// bias in this stage, too; the choice of the stage affects only names in kernels.
constexpr std::string_view kOutput = "output";

bool mentions(const Expr& e, const Expr& var) {
  return ir::any_of(e, [&](const ir::Var& each) { return &each == var.get(); });
}

// An expression without its zero padding: the value of a Select whose other branch is zero.
const Expr& without_padding(const Expr& e) {
  const auto* select = ir::as<ir::Select>(e);
  if (select == nullptr) return e;
  const auto* zero = ir::as<ir::FloatImm>(select->if_false);
  return zero != nullptr && zero->value == 0 ? without_padding(select->if_true) : e;
}

// A read of an input, with indices over the expression's variables, if the expression is an element
// of this input, possibly moved by stages that only move elements or pad with zeros. Else null.
const ir::TensorRead* moved_element(Expr e, std::vector<Expr>& made) {
  const auto* read = ir::as<ir::TensorRead>(without_padding(e));
  while (read != nullptr) {
    const Op op = schedule::operation_of(read->tensor);
    if (op->is_placeholder()) return read;
    if (!op->is_compute() || !op->reduce_axes.empty() || op->types.size() != 1) return nullptr;
    ir::Substitution indices;
    for (std::size_t i = 0; i < op->axes.size(); ++i)
      indices.emplace(op->axes[i]->var, read->indices[i]);
    made.push_back(ir::substitute(without_padding(op->body), indices));  // keeps it alive
    read = ir::as<ir::TensorRead>(made.back());
  }
  return nullptr;
}

bool adds_up(const ir::Reduce& reduce) {
  if (reduce.sources.size() != 1 || !reduce.init.empty()) return false;
  const auto* combination = ir::as<ir::Binary>(reduce.reducer.results.front());
  const auto* zero = ir::as<ir::FloatImm>(reduce.reducer.identities.front());
  return combination != nullptr && combination->op == ir::BinaryOp::Add &&
         combination->a.same_as(reduce.reducer.lhs.front()) &&
         combination->b.same_as(reduce.reducer.rhs.front()) && zero != nullptr && zero->value == 0;
}

class Recognition {
 public:
  Recognition(const Computation& computation, const std::function<bool(std::size_t)>& is_constant)
      : computation_(computation), is_constant_(is_constant) {}

  std::optional<WeightedSums> run() {
    if (computation_.outputs.size() != 1) return std::nullopt;
    Op op = schedule::operation_of(computation_.outputs.front());
    while (op->is_compute() && op->reduce_axes.empty()) {
      const ir::TensorRead* inner = inner_of(*op);
      if (inner == nullptr) return std::nullopt;
      links_.push_back({op, inner->indices});
      op = schedule::operation_of(inner->tensor);
    }
    if (!op->is_compute() || !find_weights(*op) || !find_channels(*op)) return std::nullopt;
    return made_;
  }

 private:
  struct Link {
    Op op;
    Exprs indices;  // the indices at which `op` reads the preceding stage
  };

  std::optional<std::size_t> input_of(const ir::Tensor& tensor) const {
    for (std::size_t i = 0; i < computation_.inputs.size(); ++i) {
      if (computation_.inputs[i]->same_tensor(*tensor)) return i;
    }
    return std::nullopt;
  }

  // The read of the preceding stage by a stage that only moves elements or adds a bias; else null.
  const ir::TensorRead* inner_of(const schedule::Operation& op) {
    if (op.types.size() != 1) return nullptr;
    if (const auto* sum = ir::as<ir::Binary>(op.body); sum && sum->op == ir::BinaryOp::Add) {
      const auto* bias = ir::as<ir::TensorRead>(sum->b);
      const std::optional<std::size_t> input =
          bias == nullptr ? std::nullopt : input_of(bias->tensor);
      if (!input || made_.bias || bias->indices.size() != 1 || !is_constant_(*input))
        return nullptr;
      made_.bias = input;
      bias_link_ = links_.size();
      bias_index_ = bias->indices.front();
      return ir::as<ir::TensorRead>(sum->a);
    }
    return ir::as<ir::TensorRead>(op.body);
  }

  // Finds the factor of the products that is a constant.
  bool find_weights(const schedule::Operation& op) {
    const auto* reduce = ir::as<ir::Reduce>(op.body);
    if (reduce == nullptr || !adds_up(*reduce)) return false;
    const auto* product = ir::as<ir::Binary>(without_padding(reduce->sources.front()));
    if (product == nullptr || product->op != ir::BinaryOp::Mul) return false;
    std::array<std::optional<std::size_t>, 2> inputs;
    std::array<const ir::TensorRead*, 2> reads{};
    for (const std::size_t side : {0U, 1U}) {
      reads[side] = moved_element(side == 0 ? product->a : product->b, kept_);
      if (reads[side] == nullptr) return false;
      inputs[side] = input_of(reads[side]->tensor);
      if (!inputs[side]) return false;
    }
    if (is_constant_(*inputs[0]) == is_constant_(*inputs[1])) return false;
    const std::size_t side = is_constant_(*inputs[0]) ? 0 : 1;
    made_.weight = *inputs[side];
    weight_indices_ = reads[side]->indices;
    reduce_axes_ = reduce->axes;
    return true;
  }

  // Finds the axis of the output along which each index has weights of its own.
  bool find_channels(const schedule::Operation& sums) {
    for (std::size_t axis = 0; axis < sums.axes.size(); ++axis) {
      const std::int64_t* channels = ir::int_value(sums.axes[axis]->extent);
      if (channels == nullptr || !number_weights(sums.axes[axis]->var, *channels)) continue;
      const std::optional<std::size_t> own = axis_of_output(axis);
      if (!own) continue;
      made_.channels = *channels;
      made_.channel_axis = *own;
      return true;
    }
    return false;
  }

  // The axis of the output whose index equals the index of the sums along `axis`.
  std::optional<std::size_t> axis_of_output(std::size_t axis) {
    for (std::size_t link = links_.size(); link-- > 0;) {
      const Expr& index = links_[link].indices[axis];
      if (made_.bias && link == bias_link_ && !bias_index_.same_as(index)) return std::nullopt;
      const std::vector<ir::IterVar>& axes = links_[link].op->axes;
      const auto own = std::find_if(axes.begin(), axes.end(), [&](const ir::IterVar& each) {
        return each->var.same_as(index);
      });
      if (own == axes.end()) return std::nullopt;
      axis = static_cast<std::size_t>(own - axes.begin());
    }
    return axis;
  }

  // Finds the channel of each weight from the indices that depend on the channel. False if no index
  // depends on it, if an index also depends on variables other than reduction axes, or if two
  // channels share weights.
  bool number_weights(const Expr& channel, std::int64_t channels) {
    std::vector<std::size_t> dependent;
    for (std::size_t i = 0; i < weight_indices_.size(); ++i) {
      if (mentions(weight_indices_[i], channel)) dependent.push_back(i);
    }
    if (dependent.empty()) return false;
    std::vector<std::pair<Expr, std::int64_t>> others;  // variables of the reduction
    for (const ir::IterVar& each : reduce_axes_) {
      const bool is_used = std::any_of(dependent.begin(), dependent.end(), [&](std::size_t i) {
        return mentions(weight_indices_[i], each->var);
      });
      const std::int64_t* extent = ir::int_value(each->extent);
      if (!is_used) continue;
      if (extent == nullptr || !ir::is_int(each->min, 0)) return false;
      others.emplace_back(each->var, *extent);
    }
    std::map<std::vector<std::int64_t>, std::int64_t> channel_of;
    ir::Substitution values;
    for (std::int64_t number = 0; number < channels; ++number) {
      values.insert_or_assign(channel, ir::make_int(number));
      if (!add_weights(dependent, others, values, number, channel_of)) return false;
    }
    return spread(dependent, channel_of);
  }

  // Adds the indices of weights that channel `number` reads, for all values of the other variables.
  bool add_weights(const std::vector<std::size_t>& dependent,
                   std::span<const std::pair<Expr, std::int64_t>> others, ir::Substitution& values,
                   std::int64_t number,
                   std::map<std::vector<std::int64_t>, std::int64_t>& channel_of) {
    if (!others.empty()) {
      for (std::int64_t value = 0; value < others.front().second; ++value) {
        values.insert_or_assign(others.front().first, ir::make_int(value));
        if (!add_weights(dependent, others.subspan(1), values, number, channel_of)) return false;
      }
      return true;
    }
    std::vector<std::int64_t> indices;
    for (const std::size_t i : dependent) {
      const Expr index = ir::substitute(weight_indices_[i], values);
      const std::int64_t* value = ir::int_value(index);
      if (value == nullptr) return false;
      indices.push_back(*value);
    }
    return channel_of.emplace(std::move(indices), number).first->second == number;
  }

  // Fills made_.channel_of: each weight gets the number of the channel that reads it.
  bool spread(const std::vector<std::size_t>& dependent,
              const std::map<std::vector<std::int64_t>, std::int64_t>& channel_of) {
    WeightChannels& made = made_.channel_of;
    made = {};
    for (const Expr& extent : computation_.inputs[made_.weight]->shape) {
      if (ir::int_value(extent) == nullptr) return false;
      made.shape.push_back(*ir::int_value(extent));
    }
    made.strides.assign(made.shape.size(), 0);
    std::int64_t count = 1;
    for (std::size_t i = dependent.size(); i-- > 0;) {
      made.strides[dependent[i]] = count;
      count *= made.shape[dependent[i]];
    }
    made.channels.assign(static_cast<std::size_t>(count), -1);
    for (const auto& [indices, channel] : channel_of) {
      std::int64_t place = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < dependent.size(); ++i) {
        is_inside = is_inside && indices[i] >= 0 && indices[i] < made.shape[dependent[i]];
        place += indices[i] * made.strides[dependent[i]];
      }
      if (is_inside) made.channels[static_cast<std::size_t>(place)] = channel;
    }
    return true;
  }

  const Computation& computation_;
  const std::function<bool(std::size_t)>& is_constant_;
  WeightedSums made_;
  std::vector<Link> links_;  // stages after the sums, the last one first
  std::size_t bias_link_ = 0;
  Expr bias_index_;
  Exprs weight_indices_;  // expressions over the axes of the sums
  std::vector<ir::IterVar> reduce_axes_;
  std::vector<Expr> kept_;
};

}  // namespace

std::optional<WeightedSums> weighted_sums(const Computation& computation,
                                          const std::function<bool(std::size_t)>& is_constant) {
  return Recognition(computation, is_constant).run();
}

SharedComputation with_bias(const Computation& computation, const WeightedSums& sums) {
  Computation made = computation;
  const Op op = schedule::operation_of(computation.outputs.front());
  const ir::Type type = computation.outputs.front()->type;
  made.inputs.push_back(schedule::output_of(schedule::make_placeholder(
      fmt::format("in{}", made.inputs.size()), type, {ir::make_int(sums.channels)}, op->location)));
  const auto shifted = [&](Expr value, const std::vector<ir::IterVar>& axes) {
    return ir::make_binary(
        ir::BinaryOp::Add, std::move(value),
        ir::make_tensor_read(made.inputs.back(), {axes[sums.channel_axis]->var}));
  };
  if (op->reduce_axes.empty() && op->name == kOutput) {
    made.outputs = {schedule::output_of(schedule::with_body(*op, shifted(op->body, op->axes)))};
    return std::make_shared<const Computation>(std::move(made));
  }
  std::vector<ir::IterVar> axes;
  Exprs indices;
  for (const ir::IterVar& each : op->axes) {
    indices.push_back(ir::make_var(each->name()));
    axes.push_back(ir::make_iter_var(indices.back(), each->min, each->extent, each->kind));
  }
  Expr value = ir::make_tensor_read(computation.outputs.front(), std::move(indices));
  made.outputs = {schedule::output_of(schedule::make_compute(
      std::string(kOutput), "", axes, shifted(std::move(value), axes), op->location))};
  return std::make_shared<const Computation>(std::move(made));
}

}  // namespace texloom::graph
