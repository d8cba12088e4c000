#include "graph/passes/scales/affine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/interpret/value.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

using ir::Expr;

// A number (`shift`), or a * x + b if the value depends on the data x.
struct Value {
  bool has_data = false;
  Affine affine = {.factor = 0, .shift = 0};

  double number() const { return affine.shift; }
};

Value number(double value) { return {false, {0, value}}; }

// A zero shift stays zero, also for infinite and NaN factors.
double scaled(double shift, double factor) { return shift == 0 ? 0 : shift * factor; }

std::optional<Value> sum(const Value& a, const Value& b, double sign) {
  if (a.has_data && b.has_data) return std::nullopt;
  Value result = a.has_data ? a : b;
  if (!a.has_data && b.has_data) result.affine.factor *= sign;
  result.affine.shift = a.affine.shift + sign * b.affine.shift;
  return result;
}

std::optional<Value> product(const Value& a, const Value& b) {
  if (a.has_data && b.has_data) return std::nullopt;
  if (!a.has_data && !b.has_data) return number(a.number() * b.number());
  const Value& data = a.has_data ? a : b;
  const double factor = a.has_data ? b.number() : a.number();
  return Value{true, {data.affine.factor * factor, scaled(data.affine.shift, factor)}};
}

std::optional<Value> quotient(const Value& a, const Value& b) {
  if (b.has_data) return std::nullopt;
  if (!a.has_data) return number(a.number() / b.number());
  const double shift = a.affine.shift == 0 ? 0 : a.affine.shift / b.number();
  return Value{true, {a.affine.factor / b.number(), shift}};
}

bool is_wide_float(ir::Type type) { return type == ir::kFloat32 || type == ir::Type::f(64); }

// The point at which an expression is evaluated.
struct Place {
  const Node& node;
  ir::Substitution axes = {};    // variables with known values
  ir::Exprs own = {};            // the variables of the axes of the stage's output
  std::optional<TensorId> data;  // the tensor x, if it may be read at this point
};

class Evaluation {
 public:
  Evaluation(const Graph& graph, const Producers& producers)
      : graph_(graph), producers_(producers) {}

  std::optional<Value> output(const Place& place) const {
    if (!place.node.computation || place.node.outputs.size() != 1) return std::nullopt;
    const schedule::Op op = schedule::operation_of(place.node.computation->outputs.front());
    if (!op->is_compute() || !op->reduce_axes.empty()) return std::nullopt;
    return of(op->body, place);
  }

 private:
  std::optional<Value> of(const Expr& e, const Place& place) const {
    if (!is_wide_float(e->type)) return std::nullopt;
    if (const auto* imm = ir::as<ir::FloatImm>(e)) return number(imm->value);
    if (const auto* cast = ir::as<ir::Cast>(e)) return of(cast->value, place);
    if (const auto* read = ir::as<ir::TensorRead>(e)) return of(*read, place);
    if (const auto* binary = ir::as<ir::Binary>(e)) return of(*binary, place);
    if (const auto* call = ir::as<ir::Call>(e); call && call->function == ir::Intrinsic::Sqrt) {
      const std::optional<Value> x = of(call->arguments.front(), place);
      if (x && !x->has_data) return number(std::sqrt(x->number()));
    }
    return std::nullopt;
  }

  std::optional<Value> of(const ir::Binary& e, const Place& place) const {
    const std::optional<Value> a = of(e.a, place), b = of(e.b, place);
    if (!a || !b) return std::nullopt;
    switch (e.op) {
      case ir::BinaryOp::Add:
        return sum(*a, *b, 1);
      case ir::BinaryOp::Sub:
        return sum(*a, *b, -1);
      case ir::BinaryOp::Mul:
        return product(*a, *b);
      case ir::BinaryOp::Div:
        return quotient(*a, *b);
      default:
        return std::nullopt;
    }
  }

  std::optional<Value> of(const ir::TensorRead& read, const Place& place) const {
    const schedule::Op op = schedule::operation_of(read.tensor);
    if (op->is_placeholder()) return of_input(read, place);
    if (!op->is_compute() || !op->reduce_axes.empty()) return std::nullopt;
    // The read tensor is another stage of the operator: evaluate this stage.
    const bool is_own = are_own(read.indices, place);
    Place inner{.node = place.node, .data = is_own ? place.data : std::nullopt};
    for (std::size_t i = 0; i < op->axes.size(); ++i) {
      const Expr index = ir::substitute(read.indices[i], place.axes);
      if (ir::int_value(index) != nullptr) inner.axes.emplace(op->axes[i]->var, index);
      inner.own.push_back(op->axes[i]->var);
    }
    const ir::Exprs values = schedule::values_of(op->body);
    return of(values.at(static_cast<std::size_t>(read.tensor->output)), inner);
  }

  std::optional<Value> of_input(const ir::TensorRead& read, const Place& place) const {
    const std::vector<ir::Tensor>& inputs = place.node.computation->inputs;
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const ir::Tensor& input) {
      return input->same_tensor(*read.tensor);
    });
    const TensorId id = place.node.inputs.at(static_cast<std::size_t>(found - inputs.begin()));
    if (place.data == id) {
      if (!are_own(read.indices, place)) return std::nullopt;
      return Value{true, {1, 0}};
    }
    std::vector<std::int64_t> indices;
    for (const Expr& each : read.indices) {
      const Expr index = ir::substitute(each, place.axes);
      const std::int64_t* value = ir::int_value(index);
      if (value == nullptr) return std::nullopt;
      indices.push_back(*value);
    }
    return of_constant(id, indices);
  }

  static bool are_own(const ir::Exprs& indices, const Place& place) {
    const auto agree = [&](const Expr& index, const Expr& axis) {
      const Expr a = ir::substitute(index, place.axes), b = ir::substitute(axis, place.axes);
      const std::int64_t* number = ir::int_value(a);
      return a.same_as(b) || (number != nullptr && ir::is_int(b, *number));
    };
    return std::equal(indices.begin(), indices.end(), place.own.begin(), place.own.end(), agree);
  }

  std::optional<Value> of_constant(TensorId id, const std::vector<std::int64_t>& indices) const {
    const Tensor& tensor = graph_.tensors[id];
    if (tensor.value) return element(tensor, indices);
    const auto producer = producers_.find(id);
    if (producer == producers_.end()) return std::nullopt;
    Place place{.node = graph_.nodes[producer->second], .data = std::nullopt};
    if (!place.node.computation) return std::nullopt;
    const schedule::Op op = schedule::operation_of(place.node.computation->outputs.front());
    for (std::size_t i = 0; i < op->axes.size(); ++i)
      place.axes.emplace(op->axes[i]->var, ir::make_int(indices[i]));
    return output(place);
  }

  static std::optional<Value> element(const Tensor& tensor,
                                      const std::vector<std::int64_t>& indices) {
    const std::optional<ir::Shape> shape = numbers_of(tensor.shape);
    if (!shape || !is_wide_float(tensor.type)) return std::nullopt;
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      if (indices[axis] < 0 || indices[axis] >= (*shape)[axis]) return std::nullopt;
      offset = offset * (*shape)[axis] + indices[axis];
    }
    const auto bytes = static_cast<std::size_t>(offset * (tensor.type.bits / 8));
    return number(ir::decode(tensor.type, tensor.value->data() + bytes).number);
  }

  const Graph& graph_;
  const Producers& producers_;
};

}  // namespace

std::optional<std::vector<Affine>> affine_along(const Graph& graph, const Producers& producers,
                                                const Node& node, std::size_t input,
                                                std::size_t axis) {
  if (!node.computation || node.outputs.size() != 1) return std::nullopt;
  const schedule::Op op = schedule::operation_of(node.computation->outputs.front());
  if (!op->is_compute() || axis >= op->axes.size()) return std::nullopt;
  const auto shape_of = [&](TensorId id) -> const auto& { return graph.tensors[id].shape; };
  // The first elements along an axis have the same indices in the output.
  if (shape_of(node.inputs.at(input)) != shape_of(node.outputs.front())) return std::nullopt;
  const std::int64_t* channels = ir::int_value(op->axes[axis]->extent);
  if (channels == nullptr) return std::nullopt;
  Place place{.node = node, .data = node.inputs.at(input)};
  for (const ir::IterVar& each : op->axes) {
    place.own.push_back(each->var);
    if (ir::is_int(each->extent, 1)) place.axes.insert_or_assign(each->var, ir::make_int(0));
  }
  std::vector<Affine> made;
  for (std::int64_t channel = 0; channel < *channels; ++channel) {
    place.axes.insert_or_assign(op->axes[axis]->var, ir::make_int(channel));
    const std::optional<Value> value = Evaluation(graph, producers).output(place);
    if (!value || !value->has_data) return std::nullopt;
    made.push_back(value->affine);
  }
  return made;
}

}  // namespace texloom::graph
