#include "ir/build/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/build/type_rules.h"
#include "support/floor_division.h"

namespace texloom::ir {
namespace {

// The result, unless it is undefined.
std::optional<int64_t> fold(BinaryOp op, int64_t a, int64_t b, int bits) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  if (is_division(op) && (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())))
    return {};
  const bool shift = op == BinaryOp::Shl || op == BinaryOp::Shr;
  if (shift && (b < 0 || b >= bits)) return {};
  switch (op) {
    case BinaryOp::Add:
      return static_cast<int64_t>(ua + ub);
    case BinaryOp::Sub:
      return static_cast<int64_t>(ua - ub);
    case BinaryOp::Mul:
      return static_cast<int64_t>(ua * ub);
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Mod:
      return a % b;
    case BinaryOp::FloorDiv:
      return floor_div(a, b);
    case BinaryOp::FloorMod:
      return floor_mod(a, b);
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::And:
    case BinaryOp::Or:
      return {};  // handled by fold_binary
    case BinaryOp::Shl:
      return static_cast<int64_t>(ua << ub);
    case BinaryOp::Shr:
      return a >> b;
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
  }
  return {};
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

// Whether the number without its fraction is one of the integer type's.
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
    // Signed comparison of uint64 constants above 2^63 would be wrong: leave those alone.
    const bool wide_unsigned = a->type.is_uint() && a->type.bits == 64 && (*x < 0 || *y < 0);
    const auto value = wide_unsigned ? std::nullopt : fold(op, *x, *y, a->type.bits);
    if (value) return make_int(*value, binary_type(op, a->type));
  }
  return x != nullptr || y != nullptr ? neutral(op, a, b) : nullptr;
}

namespace {

// Whether every number of a float type is one of another.
bool holds(Type wider, Type type) {
  return wider.is_float() && type.is_float() && wider.code == TypeCode::Float &&
         wider.bits > type.bits;
}

}  // namespace

Expr fold_cast(Type type, const Expr& value) {
  // A number that was widened is what it was.
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
  // A number without a representation, as NaN, is undefined, but it must be written.
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
