// Reference results of integer operations, by their mathematical definitions, in 128 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/expr.h"
#include "ir/type.h"

namespace texloom::ir {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

inline const std::vector<BinaryOp> kAllOps = {
    BinaryOp::Add,      BinaryOp::Sub,      BinaryOp::Mul, BinaryOp::Div, BinaryOp::Mod,
    BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Min, BinaryOp::Max, BinaryOp::Eq,
    BinaryOp::Ne,       BinaryOp::Lt,       BinaryOp::Le,  BinaryOp::Gt,  BinaryOp::Ge,
    BinaryOp::And,      BinaryOp::Or,       BinaryOp::Shl, BinaryOp::Shr, BinaryOp::BitAnd,
    BinaryOp::BitOr,    BinaryOp::BitXor};

inline Wide floor_div(Wide a, Wide b) {
  const Wide remainder = (a % b + b) % b;  // has the sign of b
  return (a - remainder) / b;
}

// The mathematical result; nothing if the operation has none. Written from the definitions, not
// from the code under test.
inline std::optional<Wide> exact(BinaryOp op, Wide a, Wide b, int bits) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      // Products of two uint64 can need 129 bits with the sign. They wrap to negative numbers,
      // which no unsigned type holds and which are congruent to the product.
      return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
    case BinaryOp::Div:
      return b == 0 ? std::nullopt : std::optional(a / b);
    case BinaryOp::Mod:
      return b == 0 ? std::nullopt : std::optional(a - a / b * b);
    case BinaryOp::FloorDiv:
      return b == 0 ? std::nullopt : std::optional(floor_div(a, b));
    case BinaryOp::FloorMod:
      return b == 0 ? std::nullopt : std::optional(a - floor_div(a, b) * b);
    case BinaryOp::Min:
      return a < b ? a : b;
    case BinaryOp::Max:
      return a < b ? b : a;
    case BinaryOp::Eq:
      return a == b ? 1 : 0;
    case BinaryOp::Ne:
      return a == b ? 0 : 1;
    case BinaryOp::Lt:
      return a < b ? 1 : 0;
    case BinaryOp::Le:
      return a > b ? 0 : 1;
    case BinaryOp::Gt:
      return a > b ? 1 : 0;
    case BinaryOp::Ge:
      return a < b ? 0 : 1;
    case BinaryOp::And:
      return a * b != 0 ? 1 : 0;
    case BinaryOp::Or:
      return a + b != 0 ? 1 : 0;
    case BinaryOp::Shl:
    case BinaryOp::Shr: {
      if (b < 0 || b >= bits) return std::nullopt;
      const Wide power = Wide{1} << static_cast<int>(b);
      return op == BinaryOp::Shl ? a * power : floor_div(a, power);
    }
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
  }
  return std::nullopt;
}

// The value of the type that is congruent to `value` modulo 2^bits.
inline int64_t wrapped(Wide value, Type type) {
  const Wide modulus = Wide{1} << type.bits;
  Wide low = value - floor_div(value, modulus) * modulus;
  if (type.is_int() && low >= modulus / 2) low -= modulus;
  return static_cast<int64_t>(low);
}

// The least and the largest value of the type, and small numbers of both signs.
inline std::vector<int64_t> edges(Type type) {
  const Wide modulus = Wide{1} << type.bits;
  const Wide low = type.is_int() ? -modulus / 2 : 0;
  const Wide high = type.is_int() ? modulus / 2 - 1 : modulus - 1;
  std::vector<int64_t> values;
  for (const Wide v :
       {Wide{0}, Wide{1}, Wide{2}, Wide{3}, Wide{7}, Wide{-1}, Wide{-2}, Wide{-3}, Wide{-7},
        Wide{type.bits - 1}, Wide{type.bits}, Wide{40}, low, low + 1, high, high - 1}) {
    if (v >= low && v <= high) values.push_back(static_cast<int64_t>(v));
  }
  return values;
}

}  // namespace texloom::ir
