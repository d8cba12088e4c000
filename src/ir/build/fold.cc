#include "ir/build/fold.h"

#include <cmath>
#include <limits>
#include <optional>

#include "ir/build/integer_ops.h"
#include "ir/build/type_rules.h"

namespace texloom::ir {
namespace {

// Whether both are constants that fit in int64 (of uint64, only those below 2^63): rules that
// compare constants as int64 hold only for these.
bool are_signed_values(Type type, int64_t a, int64_t b) {
  return !type.is_uint() || type.bits < 64 || (a >= 0 && b >= 0);
}

// Whether this is the least int64 divided by -1, the one quotient that int64 cannot represent. A
// device may return any value for it.
bool is_least_quotient(BinaryOp op, int64_t a, int64_t b) {
  return is_division(op) && b == -1 && a == std::numeric_limits<int64_t>::min();
}

// The operand that an operation with an integer constant returns unchanged; null if there is none.
Expr neutral(BinaryOp op, const Expr& a, const Expr& b) {
  if (a->type.is_float()) return nullptr;
  if (const int64_t* y = int_value(b)) {
    const bool zero_neutral = op == BinaryOp::Add || op == BinaryOp::Sub;
    if (zero_neutral && *y == 0) return a;
    const bool one_neutral = op == BinaryOp::Mul || op == BinaryOp::FloorDiv || op == BinaryOp::Div;
    if (one_neutral && *y == 1) return a;
    if (op == BinaryOp::Mul && *y == 0) return b;
  }
  if (const int64_t* x = int_value(a)) {
    if (op == BinaryOp::Add && *x == 0) return b;
    if (op == BinaryOp::Mul && *x == 1) return b;
    if (op == BinaryOp::Mul && *x == 0) return a;
  }
  return nullptr;
}

// Whether the integer type can represent the number without its fraction.
bool is_representable(double value, Type type) {
  const double whole = std::trunc(value);
  const double range = std::ldexp(1.0, type.is_int() ? type.bits - 1 : type.bits);
  return whole >= (type.is_int() ? -range : 0.0) && whole < range;
}

}  // namespace

Expr fold_binary(BinaryOp op, const Expr& a, const Expr& b) {
  const int64_t* x = int_value(a);
  const int64_t* y = int_value(b);
  if (is_logical(op)) {
    const bool absorbing = op == BinaryOp::Or;
    if (x != nullptr) return (*x != 0) == absorbing ? a : b;
    if (y != nullptr) return (*y != 0) == absorbing ? b : a;
    return nullptr;
  }
  if (x != nullptr && y != nullptr) {
    const bool folds = are_signed_values(a->type, *x, *y) && !is_least_quotient(op, *x, *y);
    const auto value = folds ? integer_result(op, a->type, *x, *y, Overflow::Wrap) : std::nullopt;
    if (value) return make_int(*value, binary_type(op, a->type));
  }
  return x != nullptr || y != nullptr ? neutral(op, a, b) : nullptr;
}

namespace {

// Whether the float type `wider` can represent every number of `type`.
bool holds(Type wider, Type type) {
  return wider.is_float() && type.is_float() && wider.code == TypeCode::Float &&
         wider.bits > type.bits;
}

}  // namespace

Expr fold_cast(Type type, const Expr& value) {
  // Widening keeps the number.
  if (const auto* widened = as<Cast>(value);
      widened != nullptr && widened->value->type == type && holds(widened->type, type)) {
    return widened->value;
  }
  if (const int64_t* v = int_value(value); v != nullptr && type.is_scalar()) {
    const bool exact = !(value->type.is_uint() && value->type.bits == 64 && *v < 0);
    if (type.is_bool()) return make_bool(*v != 0);
    if (!type.is_float()) return make_int(*v, type);
    if (exact && type.bits == 32) return make_float(static_cast<float>(*v), type);
    if (exact && type.bits == 64) return make_float(static_cast<double>(*v), type);
  }
  // A float that the type cannot represent, such as NaN, converts to an undefined value. The
  // constant 0 stands for it.
  if (const auto* v = as<FloatImm>(value); v != nullptr && type.is_scalar() && !type.is_float() &&
                                           !type.is_bool() && !is_representable(v->value, type)) {
    return make_int(0, type);
  }
  // Constants of 16 bits keep their written value, without rounding, so they are not converted.
  const auto* v = as<FloatImm>(value);
  const bool converts = v != nullptr && v->type.bits >= 32 && type.is_float() && type.bits >= 32;
  return converts ? make_float(v->value, type) : nullptr;
}

Expr fold_lane(const Expr& vector, const Expr& index) {
  const int64_t* lane = int_value(index);
  // A correct program never evaluates a lane out of range.
  if (lane == nullptr || *lane < 0 || *lane >= vector->type.lanes) return nullptr;
  if (const auto* broadcast = as<Broadcast>(vector)) return broadcast->value;
  if (const auto* pack = as<Pack>(vector)) return pack->elements[static_cast<size_t>(*lane)];
  if (const auto* ramp = as<Ramp>(vector)) return ramp->base + ramp->stride * *lane;
  return nullptr;
}

}  // namespace texloom::ir
