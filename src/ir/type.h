// Element types, and vectors of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace texloom::ir {

enum class TypeCode : uint8_t { Int, UInt, Float, BFloat };

// The largest number of lanes of a vector.
inline constexpr int kMaxLanes = 64;

// A scalar (lanes == 1) or a vector of up to kMaxLanes lanes. A bool is an unsigned integer
// of one bit.
struct Type {
  TypeCode code = TypeCode::Int;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  bool operator==(const Type&) const = default;

  bool is_bool() const { return code == TypeCode::UInt && bits == 1; }
  bool is_float() const { return code == TypeCode::Float || code == TypeCode::BFloat; }
  bool is_int() const { return code == TypeCode::Int; }
  bool is_uint() const { return code == TypeCode::UInt; }
  bool is_half() const { return code == TypeCode::Float && bits == 16; }
  // Signed or unsigned, but not bool.
  bool is_integer() const { return !is_float() && !is_bool(); }
  bool is_scalar() const { return lanes == 1; }
  // Bytes of one element in memory; a bool takes one.
  int64_t bytes() const { return (bits + 7) / 8; }
  Type element() const { return {code, bits, 1}; }
  Type with_lanes(int n) const { return {code, bits, static_cast<uint16_t>(n)}; }

  static constexpr Type i(int bits) { return {TypeCode::Int, static_cast<uint8_t>(bits), 1}; }
  static constexpr Type u(int bits) { return {TypeCode::UInt, static_cast<uint8_t>(bits), 1}; }
  static constexpr Type f(int bits) { return {TypeCode::Float, static_cast<uint8_t>(bits), 1}; }
  static constexpr Type boolean() { return {TypeCode::UInt, 1, 1}; }
};

inline constexpr Type kInt32 = Type::i(32);
inline constexpr Type kInt64 = Type::i(64);
inline constexpr Type kFloat32 = Type::f(32);
inline constexpr Type kBool = Type::boolean();

// "float32", "int8x4", "bool"
std::string to_string(Type type);
// The integer reduced modulo 2^bits, as the type represents it. `type` is an integer type or bool.
inline int64_t wrapped(int64_t value, Type type) {
  if (type.bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << type.bits) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  if (type.is_int() && (bits >> (type.bits - 1)) != 0) bits |= ~mask;
  return static_cast<int64_t>(bits);
}
// The inverse of to_string; nullopt if the text does not name a type.
std::optional<Type> parse_type(std::string_view text);

}  // namespace texloom::ir
