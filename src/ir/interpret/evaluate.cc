#include "ir/interpret/evaluate.h"

#include <fmt/format.h>

#include "ir/program.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// The mask for a scalar operand, which is evaluated if any lane of the enclosing vector is
// evaluated.
Mask for_scalar(Mask mask) { return mask != 0 ? kAllLanes : 0; }

Value with_lane(Type type, Scalar scalar) {
  Value value{type, {}};
  value.lanes[0] = scalar;
  return value;
}

// Applies an operation lane by lane. The result is undefined if an operand is.
template <class F, class... Values>
Value lanewise(Type type, Mask mask, const F& apply_to_lane, const Values&... operands) {
  Value result{type, {}};
  for (int i = 0; i < type.lanes; ++i) {
    if (!has_lane(mask, i)) continue;
    Undefined undefined = 0;
    ((undefined = undefined != 0 ? undefined : operands.lanes[i].undefined), ...);
    if (undefined != 0) {
      result.lanes[i].undefined = undefined;
    } else {
      result.lanes[i] = apply_to_lane(operands.lanes[i]..., i);
    }
  }
  return result;
}

// Mask of the lanes where the condition is defined and equals `wanted`.
Mask lanes_where(const Value& condition, bool wanted, int lanes, Mask mask) {
  Mask result = 0;
  for (int i = 0; i < lanes; ++i) {
    const Scalar& c = condition.lanes[condition.type.is_scalar() ? 0 : i];
    if (has_lane(mask, i) && c.undefined == 0 && (c.integer != 0) == wanted) result |= Mask{1} << i;
  }
  return result;
}

}  // namespace

void Evaluator::bind(const Expr& var, int64_t value) {
  bind(var, with_lane(var->type, scalar_of(wrapped(value, var->type))));
}

const Value& Evaluator::value_of(const Expr& var) const {
  const auto found = variables_.find(var.get());
  TL_CHECK(found != variables_.end(), to_string(var) + " has no value here");
  return found->second;
}

Value Evaluator::evaluate(const Expr& e, Mask mask) {
  if (mask == 0) return {e->type, {}};
  const Type type = e->type;
  return visit(
      e, [&](const IntImm& n) { return with_lane(type, scalar_of(n.value)); },
      [&](const FloatImm& n) { return with_lane(type, scalar_of(rounded(type, n.value))); },
      [&](const Var&) { return value_of(e); },
      [&](const Binary& n) { return is_logical(n.op) ? logical(n, mask) : binary(n, mask); },
      [&](const Not& n) {
        return lanewise(
            type, mask, [](Scalar x, int) { return scalar_of(int64_t{x.integer == 0}); },
            evaluate(n.value, mask));
      },
      [&](const Select& n) { return select(n, mask); },
      [&](const Cast& n) { return cast(n, mask); },
      [&](const Call& n) {
        const std::vector<Value> arguments = evaluate(n.arguments, mask);
        return lanewise(
            type, mask,
            [&](Scalar x, Scalar y, int) {
              const Scalar both[] = {x, y};
              return apply_call(n.function, type, std::span(both, arguments.size()));
            },
            arguments.front(), arguments.back());
      },
      [&](const Fma& n) {
        return lanewise(
            type, mask, [&](Scalar a, Scalar b, Scalar c, int) { return apply_fma(type, a, b, c); },
            evaluate(n.a, mask), evaluate(n.b, mask), evaluate(n.c, mask));
      },
      [&](const Ramp& n) {
        const Value base = evaluate(n.base), stride = evaluate(n.stride);
        Value result{type, {}};
        for (int i = 0; i < type.lanes; ++i) {
          const auto offset = uint64_t(stride.front().integer) * uint64_t(i);
          const auto sum = static_cast<int64_t>(uint64_t(base.front().integer) + offset);
          result.lanes[i] = scalar_of(wrapped(sum, type));
          result.lanes[i].undefined =
              base.front().undefined != 0 ? base.front().undefined : stride.front().undefined;
        }
        return result;
      },
      [&](const Broadcast& n) {
        Value result{type, {}};
        result.lanes.fill(evaluate(n.value, for_scalar(mask)).front(), type.lanes);
        return result;
      },
      [&](const Lane& n) { return lane(n); }, [&](const Pack& n) { return pack(n, mask); },
      [&](const TensorRead&) -> Value { TL_UNREACHABLE("stage te is not interpreted"); },
      [&](const Reduce&) -> Value { TL_UNREACHABLE("stage te is not interpreted"); },
      [&](const Tuple&) -> Value { TL_UNREACHABLE("stage te is not interpreted"); },
      [](const ForeignCall&) -> Value { TL_UNREACHABLE("foreign calls are refused earlier"); },
      [](const Pointer&) -> Value { TL_UNREACHABLE("only foreign calls have pointers"); },
      [&](const Load& n) {
        return accesses_.load(n, evaluate(n.indices, type.is_scalar() ? kAllLanes : mask), mask);
      },
      [&](const TextureLoad& n) { return accesses_.load(n, evaluate(n.x), evaluate(n.y), mask); });
}

std::vector<Value> Evaluator::evaluate(const Exprs& list, Mask mask) {
  std::vector<Value> values;
  for (const Expr& e : list) {
    values.push_back(evaluate(e, e->type.is_scalar() ? for_scalar(mask) : mask));
  }
  return values;
}

int64_t Evaluator::evaluate_decision(const Expr& e, const void* node, const SourceLocation& line,
                                     const char* effect) {
  const Scalar value = evaluate(e).front();
  if (value.undefined != 0) runner_.report_undefined(node, line, value.undefined, effect);
  return value.integer;
}

Value Evaluator::logical(const Binary& n, Mask mask) {
  const Value a = evaluate(n.a, mask);
  const bool decided_by = n.op == BinaryOp::Or;
  const Mask open = lanes_where(a, !decided_by, n.type.lanes, mask);
  // Legalized code evaluates both sides of vector operations.
  const bool eager = runner_.state().eager && !n.type.is_scalar();
  const Value b = evaluate(n.b, eager ? mask : open);
  Value result = a;
  for (int i = 0; i < n.type.lanes; ++i) {
    if (has_lane(open, i)) result.lanes[i] = b.lanes[i];
  }
  return result;
}

Value Evaluator::binary(const Binary& n, Mask mask) {
  const Type operands = n.a->type;
  const Value a = evaluate(n.a, mask), b = evaluate(n.b, mask);
  const bool by_integer = is_division(n.op) && !operands.is_float();
  return lanewise(
      n.type, mask,
      [&](Scalar x, Scalar y, int i) -> Scalar {
        if (const std::optional<Scalar> result = apply(n.op, operands, x, y)) return *result;
        if (by_integer) {
          runner_.report(ReportKind::DivisionByZero, &n, n.location,
                         [&] { return fmt::format("the divisor of {} is 0", spelling(n.op)); });
          return {};
        }
        return {.undefined = runner_.note_undefined(&n, i, n.location, [&] {
          return fmt::format("a shift of {} by {}", to_string(operands.element()), y.integer);
        })};
      },
      a, b);
}

Value Evaluator::select(const Select& n, Mask mask) {
  const bool one_condition = n.condition->type.is_scalar();
  const Value condition = evaluate(n.condition, one_condition ? for_scalar(mask) : mask);
  const bool eager = runner_.state().eager && !one_condition;
  const Mask chosen = lanes_where(condition, true, n.type.lanes, mask);
  const Mask others = lanes_where(condition, false, n.type.lanes, mask);
  const Value if_true = evaluate(n.if_true, eager ? mask : chosen);
  const Value if_false = evaluate(n.if_false, eager ? mask : others);
  Value result{n.type, {}};
  for (int i = 0; i < n.type.lanes; ++i) {
    result.lanes[i] = has_lane(chosen, i)   ? if_true.lanes[i]
                      : has_lane(others, i) ? if_false.lanes[i]
                                            : condition.lanes[one_condition ? 0 : i];
  }
  return result;
}

Value Evaluator::cast(const Cast& n, Mask mask) {
  const Type from = n.value->type;
  return lanewise(
      n.type, mask,
      [&](Scalar x, int i) -> Scalar {
        if (const std::optional<Scalar> result = convert(from, n.type, x)) return *result;
        return {.undefined = runner_.note_undefined(&n, i, n.location, [&] {
          return fmt::format("{} is outside {}", x.number, to_string(n.type.element()));
        })};
      },
      evaluate(n.value, mask));
}

// Evaluates the whole vector, whichever lane is needed.
Value Evaluator::lane(const Lane& n) {
  const Value vector = evaluate(n.vector);
  const Scalar index = evaluate(n.index).front();
  if (index.undefined != 0) return with_lane(n.type, {.undefined = index.undefined});
  if (index.integer < 0 || index.integer >= vector.type.lanes) {
    runner_.report(ReportKind::OutOfBounds, &n, n.location, [&] {
      return fmt::format("lane {} of a vector of {} lanes", index.integer, vector.type.lanes);
    });
    return with_lane(n.type, {});
  }
  return with_lane(n.type, vector.lanes[static_cast<size_t>(index.integer)]);
}

Value Evaluator::pack(const Pack& n, Mask mask) {
  Value result{n.type, {}};
  for (size_t i = 0; i < n.elements.size(); ++i) {
    if (has_lane(mask, static_cast<int>(i))) result.lanes[i] = evaluate(n.elements[i]).front();
  }
  return result;
}

Evaluator::Copy Evaluator::begin_copy(const Store& n) {
  std::vector<Value> indices = evaluate(n.indices);
  Value value = evaluate(n.value);
  accesses_.begin_store(n, indices, value.type);
  return {&n, std::move(indices), std::move(value)};
}
void Evaluator::store(const Store& n) {
  const std::vector<Value> indices = evaluate(n.indices);
  accesses_.store(n, indices, evaluate(n.value));
}
void Evaluator::store(const TextureStore& n) {
  const Value x = evaluate(n.x), y = evaluate(n.y);
  accesses_.store(n, x, y, evaluate(n.value));
}

}  // namespace texloom::ir
