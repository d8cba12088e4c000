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

// Applies an operation to elements. The result is undefined if an operand is.
template <class F, class... Scalars>
Scalar of_defined(const F& operation, const Scalars&... operands) {
  Undefined undefined = 0;
  ((undefined = undefined != 0 ? undefined : operands.undefined), ...);
  if (undefined != 0) return {.undefined = undefined};
  return operation(operands...);
}

// Applies an operation lane by lane: to the elements of the operands and the number of the lane.
template <class F, class... Values>
Value lanewise(Type type, Mask mask, const F& operation, const Values&... operands) {
  Value result{type, {}};
  for (int i = 0; i < type.lanes; ++i) {
    if (!has_lane(mask, i)) continue;
    const auto at_lane = [&](const auto&... elements) { return operation(elements..., i); };
    result.lanes[i] = of_defined(at_lane, operands.lanes[i]...);
  }
  return result;
}

Scalar apply_not(Scalar x) { return scalar_of(int64_t{x.integer == 0}); }

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
  if (type.is_scalar()) return with_lane(type, scalar(e));
  return visit(
      e, [&](const Var&) { return value_of(e); },
      [&](const Binary& n) {
        if (is_logical(n.op)) return logical(n, mask);
        const auto apply_to_lane = [&](Scalar x, Scalar y, int i) { return binary(n, x, y, i); };
        return lanewise(type, mask, apply_to_lane, evaluate(n.a, mask), evaluate(n.b, mask));
      },
      [&](const Not& n) {
        const auto apply_to_lane = [](Scalar x, int) { return apply_not(x); };
        return lanewise(type, mask, apply_to_lane, evaluate(n.value, mask));
      },
      [&](const Select& n) { return select(n, mask); },
      [&](const Cast& n) {
        const auto apply_to_lane = [&](Scalar x, int i) { return cast(n, x, i); };
        return lanewise(type, mask, apply_to_lane, evaluate(n.value, mask));
      },
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
        const Scalar base = scalar(n.base), stride = scalar(n.stride);
        Value result{type, {}};
        for (int i = 0; i < type.lanes; ++i) {
          const auto offset = uint64_t(stride.integer) * uint64_t(i);
          const auto sum = static_cast<int64_t>(uint64_t(base.integer) + offset);
          result.lanes[i] = scalar_of(wrapped(sum, type));
          result.lanes[i].undefined = base.undefined != 0 ? base.undefined : stride.undefined;
        }
        return result;
      },
      [&](const Broadcast& n) {
        Value result{type, {}};
        result.lanes.fill(scalar(n.value), type.lanes);
        return result;
      },
      [&](const Pack& n) { return pack(n, mask); },
      [&](const Load& n) { return accesses_.load(n, evaluate(n.indices, mask), mask); },
      [&](const TextureLoad& n) { return accesses_.load(n, scalar(n.x), scalar(n.y), mask); },
      [&](const auto&) -> Value { TL_UNREACHABLE(to_string(e) + " is no vector"); });
}

Scalar Evaluator::scalar(const Expr& e) {
  const Type type = e->type;
  return visit(
      e, [](const IntImm& n) { return scalar_of(n.value); },
      [&](const FloatImm& n) { return scalar_of(rounded(type, n.value)); },
      [&](const Var&) { return value_of(e).front(); },
      [&](const Binary& n) {
        if (!is_logical(n.op)) {
          const auto apply_to_both = [&](Scalar x, Scalar y) { return binary(n, x, y, 0); };
          return of_defined(apply_to_both, scalar(n.a), scalar(n.b));
        }
        const Scalar a = scalar(n.a);
        const bool is_decided = (a.integer != 0) == (n.op == BinaryOp::Or);
        return a.undefined != 0 || is_decided ? a : scalar(n.b);
      },
      [&](const Not& n) { return of_defined(apply_not, scalar(n.value)); },
      [&](const Select& n) {
        const Scalar condition = scalar(n.condition);
        if (condition.undefined != 0) return Scalar{.undefined = condition.undefined};
        return scalar(condition.integer != 0 ? n.if_true : n.if_false);
      },
      [&](const Cast& n) {
        return of_defined([&](Scalar x) { return cast(n, x, 0); }, scalar(n.value));
      },
      [&](const Call& n) {
        const auto call = [&](Scalar x, Scalar y) {
          const Scalar both[] = {x, y};
          return apply_call(n.function, type, std::span(both, n.arguments.size()));
        };
        const Scalar first = scalar(n.arguments.front());
        return of_defined(call, first, n.arguments.size() > 1 ? scalar(n.arguments.back()) : first);
      },
      [&](const Fma& n) {
        const auto fma = [&](Scalar a, Scalar b, Scalar c) { return apply_fma(type, a, b, c); };
        return of_defined(fma, scalar(n.a), scalar(n.b), scalar(n.c));
      },
      [&](const Lane& n) { return lane(n); },
      [&](const Load& n) { return accesses_.load(n, evaluate(n.indices), 1).front(); },
      [](const TensorRead&) -> Scalar { TL_UNREACHABLE("stage te is not interpreted"); },
      [](const Reduce&) -> Scalar { TL_UNREACHABLE("stage te is not interpreted"); },
      [](const Tuple&) -> Scalar { TL_UNREACHABLE("stage te is not interpreted"); },
      [](const ForeignCall&) -> Scalar { TL_UNREACHABLE("foreign calls are refused earlier"); },
      [](const Pointer&) -> Scalar { TL_UNREACHABLE("only foreign calls have pointers"); },
      [&](const auto&) -> Scalar { TL_UNREACHABLE(to_string(e) + " is a vector"); });
}

std::vector<Value> Evaluator::evaluate(const Exprs& list, Mask mask) {
  std::vector<Value> values;
  values.reserve(list.size());
  for (const Expr& e : list) {
    values.push_back(evaluate(e, e->type.is_scalar() ? for_scalar(mask) : mask));
  }
  return values;
}

int64_t Evaluator::evaluate_decision(const Expr& e, const void* node, const SourceLocation& line,
                                     const char* effect) {
  const Scalar value = scalar(e);
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

Scalar Evaluator::binary(const Binary& n, Scalar x, Scalar y, int lane) {
  const Type operands = n.a->type;
  if (const std::optional<Scalar> result = apply(n.op, operands, x, y)) return *result;
  if (is_division(n.op) && !operands.is_float()) {
    runner_.report(ReportKind::DivisionByZero, &n, n.location,
                   [&] { return fmt::format("the divisor of {} is 0", spelling(n.op)); });
    return {};
  }
  return {.undefined = runner_.note_undefined(&n, lane, n.location, [&] {
    return fmt::format("a shift of {} by {}", to_string(operands.element()), y.integer);
  })};
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

Scalar Evaluator::cast(const Cast& n, Scalar x, int lane) {
  if (const std::optional<Scalar> result = convert(n.value->type, n.type, x)) return *result;
  return {.undefined = runner_.note_undefined(&n, lane, n.location, [&] {
    return fmt::format("{} is outside {}", x.number, to_string(n.type.element()));
  })};
}

// Evaluates the whole vector, whichever lane is needed.
Scalar Evaluator::lane(const Lane& n) {
  const Value vector = evaluate(n.vector);
  const Scalar index = scalar(n.index);
  if (index.undefined != 0) return {.undefined = index.undefined};
  if (index.integer < 0 || index.integer >= vector.type.lanes) {
    runner_.report(ReportKind::OutOfBounds, &n, n.location, [&] {
      return fmt::format("lane {} of a vector of {} lanes", index.integer, vector.type.lanes);
    });
    return {};
  }
  return vector.lanes[static_cast<size_t>(index.integer)];
}

Value Evaluator::pack(const Pack& n, Mask mask) {
  Value result{n.type, {}};
  for (size_t i = 0; i < n.elements.size(); ++i) {
    if (has_lane(mask, static_cast<int>(i))) result.lanes[i] = scalar(n.elements[i]);
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
  const Scalar x = scalar(n.x), y = scalar(n.y);
  accesses_.store(n, x, y, evaluate(n.value));
}

void Evaluator::multiply(const FragmentStep& n) {
  runner_.take_steps(kFragmentElements * kFragmentSide);
  // Calls `see` with each element of an operand, by rows, and its index.
  const auto over = [&](size_t operand, const auto& see) {
    const Pointer& part = n.pointer(operand);
    const auto number = [&](const Expr& e) {
      return evaluate_decision(e, &n, n.location, "an index of the fragment is");
    };
    std::vector<int64_t> first;
    for (const Expr& index : part.indices) first.push_back(number(index));
    first.back() += number(part.offset);
    const bool logical = runner_.state().logical;
    for (int64_t row = 0; row < kFragmentSide; ++row) {
      for (int64_t column = 0; column < kFragmentSide; ++column) {
        std::vector<int64_t> index = first;
        index.back() += column;
        if (logical) {
          index[index.size() - 2] += row;
        } else {
          index.back() += row * part.buffer->shape.back();
        }
        see(*part.buffer, index, static_cast<size_t>(row * kFragmentSide + column));
      }
    }
  };
  const Type type = n.operands[0]->type;
  // The elements of an operand, in the type of the sums.
  const auto elements_of = [&](size_t operand) {
    std::vector<Scalar> elements(kFragmentElements);
    over(operand, [&](const BufferNode& buffer, const std::vector<int64_t>& index, size_t place) {
      const auto converted = [&](Scalar x) { return convert(buffer.type, type, x).value(); };
      elements[place] = of_defined(converted, accesses_.load(n, buffer, index));
    });
    return elements;
  };
  std::vector<Scalar> sums = elements_of(0);
  const std::vector<Scalar> left = elements_of(1), right = elements_of(2);
  const auto element = [](const std::vector<Scalar>& part, bool transposed, size_t row,
                          size_t col) {
    return part[transposed ? col * kFragmentSide + row : row * kFragmentSide + col];
  };
  const auto add_product = [&](Scalar sum, Scalar a, Scalar b) {
    return apply(BinaryOp::Add, type, sum, apply(BinaryOp::Mul, type, a, b).value()).value();
  };
  for (size_t row = 0; row < kFragmentSide; ++row) {
    for (size_t column = 0; column < kFragmentSide; ++column) {
      Scalar& sum = sums[row * kFragmentSide + column];
      for (size_t k = 0; k < kFragmentSide; ++k) {
        sum = of_defined(add_product, sum, element(left, n.left_transposed, row, k),
                         element(right, n.right_transposed, k, column));
      }
    }
  }
  over(0, [&](const BufferNode& buffer, const std::vector<int64_t>& index, size_t place) {
    accesses_.store(n, buffer, index, sums[place]);
  });
}

}  // namespace texloom::ir
