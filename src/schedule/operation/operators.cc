#include "schedule/operation/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/program.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

Type common_type(Type a, Type b) {
  if (a == b || b.is_bool()) return a;
  if (a.is_bool()) return b;
  if (a.is_float() != b.is_float()) return a.is_float() ? a : b;
  if (a.bits != b.bits) return a.bits > b.bits ? a : b;
  return a.is_int() ? b : a;
}

bool wants_integers(BinaryOp op) {
  return op == BinaryOp::Mod || op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod ||
         op >= BinaryOp::Shl;
}

void refuse_zero(BinaryOp op, const Expr& divisor, const SourceLocation& where) {
  if (!is_division(op) || !divisor->type.is_integer() || !is_int(divisor, 0)) return;
  fail(where, Code::DivisionByZero, "divide by a nonzero number", "operator {} divides by zero",
       spelling(op));
}

[[noreturn]] void wrong_type(BinaryOp op, Type type, std::string_view wanted,
                             const SourceLocation& where) {
  fail(where, Code::BadOperandType, fmt::format("cast the operands to {} with .astype", wanted),
       "operator {} does not take operands of type {}", spelling(op), to_string(type));
}

// The lowest and highest finite value of a type, as constants of it.
Expr lowest(Type type) {
  if (type.is_float()) {
    if (type.bits == 16)
      return make_float(type.code == TypeCode::BFloat ? -3.3895314e38 : -65504.0, type);
    return make_float(type.bits == 64 ? std::numeric_limits<double>::lowest()
                                      : std::numeric_limits<float>::lowest(),
                      type);
  }
  return make_int(type.is_uint() ? 0 : -(int64_t{1} << (type.bits - 2)) * 2, type);
}
Expr highest(Type type) {
  if (type.is_float()) return make_float(-as<FloatImm>(lowest(type))->value, type);
  const int64_t half = int64_t{1} << (type.bits - 2);  // avoids overflow for 64 bits
  return make_int(type.is_uint() ? -1 : half - 1 + half, type);
}

Reducer make_reducer(Reduction kind, Type type) {
  const Expr lhs = make_var("lhs", type), rhs = make_var("rhs", type);
  switch (kind) {
    case Reduction::Sum: {
      const Expr zero = type.is_float() ? make_float(0, type) : make_int(0, type);
      return {{lhs}, {rhs}, {lhs + rhs}, {zero}, "sum"};
    }
    case Reduction::Min:
      return {{lhs}, {rhs}, {min(lhs, rhs)}, {highest(type)}, "min"};
    case Reduction::Max:
      return {{lhs}, {rhs}, {max(lhs, rhs)}, {lowest(type)}, "max"};
  }
  TL_UNREACHABLE();
}

}  // namespace

std::pair<Expr, Expr> match_types(Expr a, Expr b, const SourceLocation& where) {
  const int lanes = std::max(a->type.lanes, b->type.lanes);
  for (Expr* operand : {&a, &b}) {
    if ((*operand)->type.lanes == lanes) continue;
    if (!(*operand)->type.is_scalar()) {
      fail(where, Code::BadOperandType, "load vectors with the same number of lanes",
           "operands of types {} and {} have no common type", to_string(a->type),
           to_string(b->type));
    }
    *operand = make_broadcast(std::move(*operand), lanes);
  }
  const Type type = common_type(a->type, b->type);
  const bool floats = a->type.is_float() && b->type.is_float();
  if (floats && a->type != b->type && a->type.bits == b->type.bits) {  // float16 and bfloat16
    fail(where, Code::BadOperandType, "cast one of the operands to float32",
         "operands of types {} and {} have no common type", to_string(a->type), to_string(b->type));
  }
  return {make_cast(type, std::move(a)), make_cast(type, std::move(b))};
}

namespace {

// The result for two constants of the same type, float32 or float64; null for other operands, or if
// the result is not finite.
Expr folded(BinaryOp op, const Expr& a, const Expr& b) {
  const auto* x = as<FloatImm>(a);
  const auto* y = as<FloatImm>(b);
  if (x == nullptr || y == nullptr || a->type.bits < 32) return {};
  // float64 arithmetic on float32 values, rounded to float32, equals float32 arithmetic.
  double value = 0;
  if (op == BinaryOp::Add) {
    value = x->value + y->value;
  } else if (op == BinaryOp::Sub) {
    value = x->value - y->value;
  } else if (op == BinaryOp::Mul) {
    value = x->value * y->value;
  } else if (op == BinaryOp::Div) {
    value = x->value / y->value;
  } else {
    return {};
  }
  const double largest =
      a->type.bits == 32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  return std::abs(value) <= largest ? make_float(value, a->type) : Expr();
}

}  // namespace

Expr apply(BinaryOp op, Expr a, Expr b, const SourceLocation& where) {
  auto [x, y] = match_types(std::move(a), std::move(b), where);
  const Type type = x->type;
  if (is_logical(op)) {
    if (!type.is_bool()) wrong_type(op, type, "bool", where);
  } else if (type.is_bool() && !is_comparison(op)) {
    // Arithmetic on bools counts them as 0 and 1.
    x = make_cast(kInt32.with_lanes(type.lanes), x);
    y = make_cast(kInt32.with_lanes(type.lanes), y);
  }
  if (wants_integers(op) && x->type.is_float()) wrong_type(op, type, "an integer type", where);
  if (op == BinaryOp::Div && !x->type.is_float()) {
    fail(where, Code::IntegerDivision,
         "write // or te.floordiv to round down, te.truncdiv to round towards zero, or cast to a "
         "float type",
         "operator / between integers does not say how it rounds");
  }
  refuse_zero(op, y, where);
  if (const Expr constant = folded(op, x, y)) return constant;
  return make_binary(op, std::move(x), std::move(y), where);
}

Expr truncating_div(Expr a, Expr b, const SourceLocation& where) {
  auto [x, y] = match_types(std::move(a), std::move(b), where);
  if (x->type.is_float()) wrong_type(BinaryOp::FloorDiv, x->type, "an integer type", where);
  refuse_zero(BinaryOp::Div, y, where);
  return make_binary(BinaryOp::Div, std::move(x), std::move(y), where);
}

Expr negate(Expr value, const SourceLocation& where) {
  const Type type = value->type.is_bool() ? kInt32 : value->type;
  // Zero minus a float would lose the sign of zero.
  if (type.is_float()) return apply(BinaryOp::Mul, std::move(value), make_float(-1, type), where);
  return apply(BinaryOp::Sub, make_int(0, type), std::move(value), where);
}

Expr invert(Expr value, const SourceLocation& where) {
  if (value->type.is_bool()) return make_not(std::move(value));
  if (!value->type.is_integer())
    wrong_type(BinaryOp::BitXor, value->type, "an integer type", where);
  const Expr ones = make_int(-1, value->type);
  return make_binary(BinaryOp::BitXor, std::move(value), ones, where);
}

Expr constant(int64_t value, Type type, const SourceLocation& where) {
  if (type.is_float()) return make_float(static_cast<double>(value), type);
  const Expr result = make_int(value, type);
  // Negative numbers represent large values of uint64.
  if (*int_value(result) != value || (type.is_uint() && type.bits < 64 && value < 0)) {
    const std::string same_bits =
        type.is_bool() ? "" : fmt::format(", or {}, which has its low bits", *int_value(result));
    fail(where, Code::BadConstant, "use a wider type" + same_bits,
         "the constant {} does not fit {}", value, to_string(type));
  }
  return result;
}

Expr constant(double value, Type type, const SourceLocation& where) {
  if (type.is_float()) return make_float(value, type);
  constexpr double kPastInt64 = 9223372036854775808.0;
  if (!(value >= -kPastInt64 && value < kPastInt64 && value == std::trunc(value))) {
    fail(where, Code::BadConstant, "round it first, or use a float type",
         "the constant {} does not fit {}", value, to_string(type));
  }
  return constant(static_cast<int64_t>(value), type, where);
}

Expr logical_not(Expr value, const SourceLocation& where) {
  if (!value->type.is_bool()) {
    fail(where, Code::BadOperandType, "compare it with a value first",
         "logical negation does not take a value of type {}", to_string(value->type));
  }
  return make_not(std::move(value));
}

Expr select(Expr condition, Expr if_true, Expr if_false, const SourceLocation& where) {
  if (!condition->type.is_bool()) {
    fail(where, Code::BadOperandType, "write a comparison, or combine some with te.all or te.any",
         "the condition has type {}, not bool", to_string(condition->type));
  }
  auto [x, y] = match_types(std::move(if_true), std::move(if_false), where);
  return make_select(std::move(condition), std::move(x), std::move(y), where);
}

namespace {

// The bits of an integer, as uint32 or uint64.
Expr bits_of(std::string_view function, const Expr& x, const SourceLocation& where) {
  if (!x->type.is_integer()) {
    fail(where, Code::BadOperandType, "cast the operand to an integer type",
         "te.{} does not take a value of type {}", function, to_string(x->type));
  }
  const int bits = x->type.is_bool() ? 8 : x->type.bits;
  return make_cast(Type::u(std::max(bits, 32)), make_cast(Type::u(bits), x));
}

}  // namespace

Expr popcount(const Expr& x, const SourceLocation& where) {
  return make_cast(x->type, make_call(Intrinsic::Popcount, {bits_of("popcount", x, where)}, where));
}

Expr leading_zeros(const Expr& x, const SourceLocation& where) {
  const Expr bits = bits_of("clz", x, where);
  const Expr zeros = make_cast(kInt32, make_call(Intrinsic::Clz, {bits}, where));
  return zeros - make_int(bits->type.bits - x->type.bits);
}

Expr call(std::string_view name, Exprs arguments, const SourceLocation& where) {
  const IntrinsicInfo* row = find_intrinsic(name);
  TL_CHECK(row != nullptr && row->arity == static_cast<int>(arguments.size()));
  if (row->arity == 2) {
    std::tie(arguments[0], arguments[1]) = match_types(arguments[0], arguments[1], where);
  }
  const Type type = arguments[0]->type;
  if (row->function == Intrinsic::Abs && type.is_uint()) return arguments[0];
  if (row->function == Intrinsic::Abs && type.is_int()) {
    const Expr& x = arguments[0];
    return make_select(x < make_int(0, type), make_int(0, type) - x, x);
  }
  const bool rounding = row->function >= Intrinsic::Floor && row->function <= Intrinsic::Nearbyint;
  if (rounding && type.is_integer()) return arguments[0];
  // float32 arithmetic cannot make the step to the next float16.
  const bool steps_in_half = row->function == Intrinsic::Nextafter && type.bits == 16;
  if (!takes(row->function, type) || steps_in_half) {
    fail(where, Code::BadOperandType, "cast the operand to float32 with .astype(\"float32\")",
         "te.{} does not take a value of type {}", name, to_string(type));
  }
  return make_call(row->function, std::move(arguments), where);
}

Expr fma(const Expr& a, const Expr& b, const Expr& c, const SourceLocation& where) {
  const Type type = a->type;
  if (type != Type::f(32) && type != Type::f(64)) {
    fail(where, Code::BadOperandType, "call it for float32, or write a * b + c",
         "fma is called for {}, but is a function of float32 and float64", to_string(type));
  }
  return make_fma(a, b, c, where);
}

namespace {

void check_axes(const std::vector<IterVar>& axes, const SourceLocation& where) {
  if (axes.empty()) {
    fail(where, Code::BadReduction, "pass axis=te.reduce_axis((begin, end), name=\"k\")",
         "a reduction needs at least one axis");
  }
  for (const IterVar& axis : axes) {
    if (axis->kind == IterKind::Reduction) continue;
    fail(where, Code::BadReduction, "make the axis with te.reduce_axis((begin, end))",
         "cannot reduce over '{}': it is not a reduction axis", axis->name());
  }
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    const auto same = [&](const IterVar& other) { return other.same_as(*axis); };
    if (std::none_of(axes.begin(), axis, same)) continue;
    fail(where, Code::BadReduction, "name each axis once", "a reduction names the axis '{}' twice",
         (*axis)->name());
  }
}

// The results of a reducer may use its operands and outer variables; its identities may use only
// outer variables. make_compute checks that the outer variables are the tensor's axes.
void check_reducer(const Reducer& reducer, const SourceLocation& where) {
  const auto check = [&](const Expr& e) {
    if (e->size > kMaxReducerSize) {
      fail(where, Code::ProgramTooLarge, "combine two values only",
           "the reducer '{}' has more than {} parts", reducer.name, kMaxReducerSize);
    }
    const auto refuse = [&](std::string_view what) {
      fail(where, Code::BadReduction, "put it into the expression that is reduced",
           "the reducer '{}' uses '{}', which is neither its operand nor an axis", reducer.name,
           what);
    };
    walk(
        e, [&](const TensorRead& n) { refuse(n.tensor->name); },
        [&](const Reduce& n) { refuse(n.reducer.name); });
  };
  for (const Expr& e : reducer.results) check(e);
  for (const Expr& e : reducer.identities) {
    check(e);
    walk(e, [&](const Var& v) {
      if (!is_operand(reducer, v)) return;
      fail(where, Code::BadReduction, "use a constant, or an expression over the axes",
           "the identity of the reducer '{}' uses its operand '{}'", reducer.name, v.name);
    });
  }
}

// Converts the values, one for each source, to the types of the sources.
void convert(Exprs& values, const Exprs& sources, std::string_view what, const Reducer& reducer,
             const SourceLocation& where) {
  if (values.size() != sources.size()) {
    fail(where, Code::BadReduction, "give one for each value that is reduced",
         "the reducer '{}' combines {} values at once, but has {} {}", reducer.name, sources.size(),
         values.size(), what);
  }
  for (size_t i = 0; i < values.size(); ++i) values[i] = make_cast(sources[i]->type, values[i]);
}

}  // namespace

Expr reduce(Reduction kind, Expr source, ReductionDomain domain, const SourceLocation& where) {
  if (source->type.is_bool()) source = make_cast(kInt32, std::move(source));
  Reducer reducer = make_reducer(kind, source->type);
  return reduce(std::move(reducer), {std::move(source)}, std::move(domain), where);
}

Expr reduce(Reducer reducer, Exprs sources, ReductionDomain domain, const SourceLocation& where) {
  check_axes(domain.axes, where);
  if (domain.condition && !domain.condition->type.is_bool()) {
    fail(where, Code::BadOperandType,
         "write a comparison as where=", "the condition of a reduction has type {}, not bool",
         to_string(domain.condition->type));
  }
  convert(reducer.results, sources, "results", reducer, where);
  convert(reducer.identities, sources, "identities", reducer, where);
  check_reducer(reducer, where);
  if (!domain.init.empty()) convert(domain.init, sources, "starts", reducer, where);
  return make_reduce(std::move(reducer), std::move(sources), std::move(domain.axes),
                     std::move(domain.condition), std::move(domain.init), where);
}

}  // namespace texloom::schedule
