#include "ir/interpret/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ir/build/compare.h"
#include "ir/build/integer_ops.h"
#include "ir/interpret/element_functions.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// A binary format narrower than double.
struct Format {
  int digits;        // of the significand, including the hidden digit
  int max_exponent;  // the exponent of the largest value, which is below 2^(max_exponent + 1)
};
constexpr Format kHalf{11, 15}, kBFloat{8, 127};

const Format& format_of(Type type) { return type.code == TypeCode::BFloat ? kBFloat : kHalf; }

double nearest(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), 1 - format.max_exponent);
  // Division and multiplication by a power of two are exact; the rounding in between is to even.
  const double unit = std::ldexp(1.0, exponent - (format.digits - 1));
  const double result = std::nearbyint(value / unit) * unit;
  if (std::abs(result) < std::ldexp(1.0, format.max_exponent + 1)) return result;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

// a * b + c rounded to odd, where a * b is exact: rounding that result to a format with at least
// two digits fewer than double is then the only rounding (Boldo and Melquiond, 2008).
double odd_sum(double product, double c) {
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);  // Knuth's TwoSum: exact
  if (error == 0 || (std::bit_cast<uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, std::copysign(std::numeric_limits<double>::infinity(), error));
}

// An integer as a double that every narrower format rounds like the integer itself.
double sticky_double(Type from, int64_t integer) {
  const bool negative = from.is_int() && integer < 0;
  uint64_t magnitude = negative ? ~static_cast<uint64_t>(integer) + 1 : uint64_t(integer);
  int scale = 0;
  if (magnitude >> 53 != 0) {
    scale = 11;
    magnitude = (magnitude >> 11) | ((magnitude & 0x7ff) != 0 ? 1 : 0);
  }
  const double value = std::ldexp(static_cast<double>(magnitude), scale);
  return negative ? -value : value;
}

Scalar of_integer(Type type, uint64_t bits) {
  return scalar_of(wrapped(static_cast<int64_t>(bits), type));
}
Scalar of_number(Type type, double value) { return scalar_of(rounded(type, value)); }

// Double has at least 2 p + 2 digits for the p digits of a narrower format. Rounding its results to
// that format therefore gives the format's own results (Figueroa, 1995).
Scalar apply_floats(BinaryOp op, Type type, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return of_number(type, a + b);
    case BinaryOp::Sub:
      return of_number(type, a - b);
    case BinaryOp::Mul:
      return of_number(type, a * b);
    case BinaryOp::Div:
      return of_number(type, a / b);
    // If one operand is NaN, the result is the other operand.
    case BinaryOp::Min:
      return scalar_of(std::fmin(a, b));
    case BinaryOp::Max:
      return scalar_of(std::fmax(a, b));
    default:
      return scalar_of(int64_t{compare(op, a, b)});
  }
}

double decode_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude = std::ldexp(fraction, -24);
  if (exponent == 31) {
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  } else if (exponent != 0) {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Requires a value that float16 represents.
uint16_t encode_half(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | 0x7c00);
  const double magnitude = std::abs(value);
  if (magnitude < std::ldexp(1.0, -14)) {
    return static_cast<uint16_t>(sign | static_cast<unsigned>(std::ldexp(magnitude, 24)));
  }
  const int exponent = std::ilogb(magnitude);
  const auto significand = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent));
  return static_cast<uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10 |
                               (significand - 1024));
}

uint64_t float_bits(Type type, double value) {
  if (type.bits == 64) return std::bit_cast<uint64_t>(value);
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type.bits == 32) return single;
  return type.code == TypeCode::BFloat ? single >> 16 : encode_half(value);
}

Scalar apply_dot(const Dot& dot, Scalar a, Scalar b) {
  const Type left = dot.is_left_signed ? Type::i(dot.bits) : Type::u(dot.bits);
  const Type right = dot.is_right_signed ? Type::i(dot.bits) : Type::u(dot.bits);
  int64_t sum = 0;
  for (int place = 0; place < 32; place += dot.bits)
    sum += wrapped(a.integer >> place, left) * wrapped(b.integer >> place, right);
  return of_integer(kInt32, static_cast<uint64_t>(sum));
}

double float_of_bits(Type type, uint64_t bits) {
  if (type.bits == 64) return std::bit_cast<double>(bits);
  if (type.bits == 32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type.code == TypeCode::BFloat) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
  }
  return decode_half(static_cast<uint16_t>(bits));
}

}  // namespace

double rounded(Type type, double value) {
  if (type.bits == 64) return value;
  return type.bits == 32 ? double{static_cast<float>(value)} : nearest(format_of(type), value);
}

std::optional<Scalar> apply(BinaryOp op, Type operands, Scalar a, Scalar b) {
  TL_CHECK(!is_logical(op));
  if (operands.is_float()) return apply_floats(op, operands, a.number, b.number);
  const auto result = integer_result(op, operands, a.integer, b.integer, Overflow::Wrap);
  return result ? std::optional(scalar_of(*result)) : std::nullopt;
}

Scalar apply_fma(Type type, Scalar a, Scalar b, Scalar c) {
  if (type.bits == 64) return scalar_of(std::fma(a.number, b.number, c.number));
  if (type.bits == 32) {
    const float result = std::fma(static_cast<float>(a.number), static_cast<float>(b.number),
                                  static_cast<float>(c.number));
    return scalar_of(double{result});
  }
  return of_number(type, odd_sum(a.number * b.number, c.number));
}

Scalar apply_call(Intrinsic function, Type type, std::span<const Scalar> arguments) {
  const Scalar& x = arguments.front();
  if (!type.is_float()) {
    const auto bits = static_cast<uint64_t>(x.integer);
    if (const auto dot = dot_of(function)) return apply_dot(*dot, x, arguments.back());
    if (function == Intrinsic::Popcount) return scalar_of(int64_t{std::popcount(bits)});
    if (function == Intrinsic::Clz) {
      return scalar_of(int64_t{std::countl_zero(bits) - (64 - type.bits)});
    }
    TL_CHECK(function == Intrinsic::Abs);
    const bool negative = type.is_int() && x.integer < 0;
    return negative ? of_integer(type, -bits) : scalar_of(x.integer);
  }
  const double y = arguments.back().number;
  if (type.bits == 64) return scalar_of(element_function(function, x.number, y));
  const float result =
      element_function(function, static_cast<float>(x.number), static_cast<float>(y));
  return of_number(type, double{result});
}

std::optional<Scalar> convert(Type from, Type to, Scalar value) {
  if (from.is_float()) {
    if (to.is_float()) return of_number(to, value.number);
    if (to.is_bool()) return scalar_of(int64_t{value.number != 0});
    // All bounds are powers of two, and exact.
    const double low = to.is_int() ? -std::ldexp(1.0, to.bits - 1) : 0;
    const double high = std::ldexp(1.0, to.is_int() ? to.bits - 1 : to.bits);
    const double whole = std::trunc(value.number);
    if (!(whole >= low && whole < high)) return std::nullopt;
    return scalar_of(to.is_int() ? static_cast<int64_t>(whole)
                                 : static_cast<int64_t>(static_cast<uint64_t>(whole)));
  }
  if (to.is_bool()) return scalar_of(int64_t{value.integer != 0});
  if (!to.is_float()) return scalar_of(wrapped(value.integer, to));
  if (to.bits == 64) {
    return scalar_of(from.is_int() ? static_cast<double>(value.integer)
                                   : static_cast<double>(static_cast<uint64_t>(value.integer)));
  }
  return of_number(to, sticky_double(from, value.integer));
}

Scalar decode(Type type, const std::byte* bytes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < type.bytes(); ++i) bits |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  if (type.is_float()) return scalar_of(float_of_bits(type, bits));
  if (type.is_bool()) return scalar_of(int64_t{bits != 0});
  return scalar_of(wrapped(static_cast<int64_t>(bits), type));
}

void encode(Type type, Scalar value, std::byte* bytes) {
  const uint64_t bits = type.is_float() ? float_bits(type, rounded(type, value.number))
                                        : static_cast<uint64_t>(value.integer);
  for (int64_t i = 0; i < type.bytes(); ++i) {
    bytes[i] = static_cast<std::byte>((bits >> (8 * i)) & 0xff);
  }
}

}  // namespace texloom::ir
