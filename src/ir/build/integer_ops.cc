#include "ir/build/integer_ops.h"

#include <algorithm>
#include <type_traits>

#include "ir/build/compare.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// A result in 64 bits, and whether it differs from the mathematical result.
template <class Number>
struct Wide {
  Number value = 0;
  bool overflows = false;
};

template <class Number>
Wide<Number> quotient(Number a, Number b) {
  if constexpr (std::is_signed_v<Number>) {
    if (b == -1) {  // a / b traps for the least number
      Wide<Number> negated;
      negated.overflows = __builtin_sub_overflow(Number{0}, a, &negated.value);
      return negated;
    }
  }
  return {a / b};
}

template <class Number>
Number remainder_of(Number a, Number b) {
  return b == static_cast<Number>(-1) && std::is_signed_v<Number> ? Number{0} : a % b;
}

// Whether the remainder of a division rounded toward zero differs from that of a division rounded
// down.
template <class Number>
bool rounds_up(Number remainder, Number b) {
  return remainder != 0 && (remainder < 0) != (b < 0);
}

template <class Number>
Wide<Number> shifted_left(Number a, Number b) {
  const auto value = static_cast<Number>(static_cast<uint64_t>(a) << b);
  return {value, (value >> b) != a};
}

// Requires valid operands: divisors are not zero, shifts are in range.
template <class Number>
Wide<Number> result_of(BinaryOp op, Number a, Number b) {
  Wide<Number> result;
  switch (op) {
    case BinaryOp::Add:
      result.overflows = __builtin_add_overflow(a, b, &result.value);
      return result;
    case BinaryOp::Sub:
      result.overflows = __builtin_sub_overflow(a, b, &result.value);
      return result;
    case BinaryOp::Mul:
      result.overflows = __builtin_mul_overflow(a, b, &result.value);
      return result;
    case BinaryOp::Div:
      return quotient(a, b);
    case BinaryOp::Mod:
      return {remainder_of(a, b)};
    case BinaryOp::FloorDiv:
      result = quotient(a, b);
      result.value -= rounds_up(remainder_of(a, b), b) ? 1 : 0;
      return result;
    case BinaryOp::FloorMod: {
      const Number rest = remainder_of(a, b);
      return {rounds_up(rest, b) ? static_cast<Number>(rest + b) : rest};
    }
    case BinaryOp::Min:
      return {std::min(a, b)};
    case BinaryOp::Max:
      return {std::max(a, b)};
    case BinaryOp::Shl:
      return shifted_left(a, b);
    case BinaryOp::Shr:
      return {static_cast<Number>(a >> b)};
    case BinaryOp::BitAnd:
      return {static_cast<Number>(a & b)};
    case BinaryOp::BitOr:
      return {static_cast<Number>(a | b)};
    case BinaryOp::BitXor:
      return {static_cast<Number>(a ^ b)};
    default:
      TL_UNREACHABLE("not an operation whose result has the operands' type");
  }
}

template <class Number>
std::optional<int64_t> known_result(BinaryOp op, Type type, Number a, Number b, Overflow overflow) {
  if (is_comparison(op)) return compare(op, a, b) ? 1 : 0;
  if (is_division(op) && b == 0) return std::nullopt;
  const bool is_shift = op == BinaryOp::Shl || op == BinaryOp::Shr;
  if (is_shift && (b < 0 || b >= static_cast<Number>(type.bits))) return std::nullopt;
  const Wide<Number> result = result_of(op, a, b);
  const auto value = static_cast<int64_t>(result.value);
  const int64_t held = wrapped(value, type);
  const bool is_exact = !result.overflows && held == value;
  return is_exact || overflow == Overflow::Wrap ? std::optional(held) : std::nullopt;
}

}  // namespace

std::optional<int64_t> integer_result(BinaryOp op, Type type, int64_t a, int64_t b,
                                      Overflow overflow) {
  TL_CHECK(!is_logical(op) && !type.is_float());
  if (type.is_int()) return known_result(op, type, a, b, overflow);
  return known_result(op, type, static_cast<uint64_t>(a), static_cast<uint64_t>(b), overflow);
}

}  // namespace texloom::ir
