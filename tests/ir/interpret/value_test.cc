// Tests the arithmetic of single elements in their types.
#include "ir/interpret/value.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace texloom::ir {
namespace {

constexpr Type kHalf = Type::f(16), kDouble = Type::f(64), kBFloat{TypeCode::BFloat, 16, 1};
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

int64_t integer(BinaryOp op, Type type, int64_t a, int64_t b) {
  return apply(op, type, scalar_of(a), scalar_of(b)).value().integer;
}
double number(BinaryOp op, Type type, double a, double b) {
  return apply(op, type, scalar_of(a), scalar_of(b)).value().number;
}
bool holds(BinaryOp op, double a, double b) {
  return apply(op, kFloat32, scalar_of(a), scalar_of(b)).value().integer == 1;
}
double fma(Type type, double a, double b, double c) {
  return apply_fma(type, scalar_of(a), scalar_of(b), scalar_of(c)).number;
}
double call(Intrinsic function, Type type, double x, double y = 0) {
  const std::array<Scalar, 2> arguments{scalar_of(x), scalar_of(y)};
  return apply_call(function, type, std::span(arguments.data(), info(function).arity)).number;
}
template <class From>
Scalar converted(Type from, Type to, From value) {
  return convert(from, to, scalar_of(value)).value();
}

struct IntegerCase {
  BinaryOp op;
  Type type;
  int64_t a, b, expected;
};

// Each integer operator is tested in an ordinary case, and where it wraps or signs matter.
TEST(Scalars, Integers) {
  const Type i8 = Type::i(8), u8 = Type::u(8), u32 = Type::u(32), u64 = Type::u(64);
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
  const std::vector<IntegerCase> cases = {
      {BinaryOp::Add, kInt32, 2, 3, 5},
      {BinaryOp::Add, i8, 127, 1, -128},
      {BinaryOp::Add, u8, 255, 1, 0},
      {BinaryOp::Add, kInt64, std::numeric_limits<int64_t>::max(), 1, kMin64},
      {BinaryOp::Add, kBool, 1, 1, 0},
      {BinaryOp::Sub, u32, 0, 1, 4294967295},
      {BinaryOp::Mul, i8, 16, 9, -112},
      {BinaryOp::Mul, kInt32, 65536, 65536, 0},
      {BinaryOp::Div, kInt32, -7, 2, -3},
      {BinaryOp::Div, kInt32, kMin32, -1, kMin32},
      {BinaryOp::Div, kInt64, kMin64, -1, kMin64},
      {BinaryOp::Div, u64, -1, 2, std::numeric_limits<int64_t>::max()},
      {BinaryOp::Mod, kInt32, -7, 2, -1},
      {BinaryOp::Mod, kInt64, kMin64, -1, 0},
      {BinaryOp::Mod, u64, -1, 10, 5},
      {BinaryOp::FloorDiv, kInt32, -7, 2, -4},
      {BinaryOp::FloorDiv, kInt32, 7, -2, -4},
      {BinaryOp::FloorDiv, kInt32, -8, 2, -4},
      {BinaryOp::FloorDiv, u64, -1, 2, std::numeric_limits<int64_t>::max()},
      {BinaryOp::FloorMod, kInt32, -7, 2, 1},
      {BinaryOp::FloorMod, kInt32, 7, -2, -1},
      {BinaryOp::FloorMod, u64, -1, 10, 5},
      {BinaryOp::Min, kInt32, -1, 1, -1},
      {BinaryOp::Min, u64, -1, 1, 1},
      {BinaryOp::Max, kInt32, -1, 1, 1},
      {BinaryOp::Max, u64, -1, 1, -1},
      {BinaryOp::Eq, kInt32, 3, 3, 1},
      {BinaryOp::Ne, kInt32, 3, 3, 0},
      {BinaryOp::Lt, kInt32, -1, 1, 1},
      {BinaryOp::Lt, u64, -1, 1, 0},
      {BinaryOp::Le, kInt32, 1, 1, 1},
      {BinaryOp::Gt, kInt32, -1, 1, 0},
      {BinaryOp::Gt, u64, -1, 1, 1},
      {BinaryOp::Ge, kInt32, 0, 1, 0},
      {BinaryOp::Shl, i8, 1, 7, -128},
      {BinaryOp::Shl, u8, 255, 4, 240},
      {BinaryOp::Shr, i8, -128, 3, -16},
      {BinaryOp::Shr, u64, -1, 60, 15},
      {BinaryOp::BitAnd, i8, -1, 12, 12},
      {BinaryOp::BitOr, u8, 128, 1, 129},
      {BinaryOp::BitXor, i8, -1, 1, -2},
  };
  for (const IntegerCase& c : cases) {
    EXPECT_EQ(integer(c.op, c.type, c.a, c.b), c.expected)
        << spelling(c.op) << " of " << to_string(c.type) << ": " << c.a << ", " << c.b;
  }
}

TEST(Scalars, OpenResults) {
  const auto is_open = [](BinaryOp op, int64_t b) {
    return !apply(op, Type::i(8), scalar_of(int64_t{1}), scalar_of(b)).has_value();
  };
  for (const BinaryOp op : {BinaryOp::Div, BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod}) {
    EXPECT_TRUE(is_open(op, 0)) << spelling(op);
  }
  for (const BinaryOp op : {BinaryOp::Shl, BinaryOp::Shr}) {
    EXPECT_FALSE(is_open(op, 7));
    EXPECT_TRUE(is_open(op, 8));
    EXPECT_TRUE(is_open(op, -1));
  }
}

TEST(Scalars, Floats) {
  EXPECT_EQ(number(BinaryOp::Add, kFloat32, 1.5, 2), 3.5);
  EXPECT_EQ(number(BinaryOp::Sub, kFloat32, 1.5, 2), -0.5);
  EXPECT_EQ(number(BinaryOp::Mul, kFloat32, 1.5, 2), 3);
  EXPECT_EQ(number(BinaryOp::Div, kFloat32, 1, 3), double{1.0F / 3.0F});
  EXPECT_EQ(number(BinaryOp::Div, kFloat32, 1, 0), kInf);
  EXPECT_EQ(number(BinaryOp::Div, kDouble, 1, 3), 1.0 / 3);
  EXPECT_EQ(number(BinaryOp::Min, kFloat32, 1, 2), 1);
  EXPECT_EQ(number(BinaryOp::Max, kFloat32, 1, 2), 2);
  // Given a number and NaN, min and max return the number, like fmin and fmax.
  EXPECT_EQ(number(BinaryOp::Min, kFloat32, kNaN, 2), 2);
  EXPECT_EQ(number(BinaryOp::Max, kFloat32, 1, kNaN), 1);
}

TEST(Scalars, ComparisonsOfFloats) {
  EXPECT_TRUE(holds(BinaryOp::Eq, 0.0, -0.0));
  EXPECT_TRUE(holds(BinaryOp::Lt, 1, 2));
  EXPECT_TRUE(holds(BinaryOp::Le, 2, 2));
  EXPECT_TRUE(holds(BinaryOp::Gt, 2, 1));
  EXPECT_TRUE(holds(BinaryOp::Ge, 2, 2));
  EXPECT_TRUE(holds(BinaryOp::Ne, kNaN, kNaN));
  EXPECT_FALSE(holds(BinaryOp::Eq, kNaN, kNaN));
  EXPECT_FALSE(holds(BinaryOp::Ge, kNaN, 1));
}

// Ties round to even, results may be subnormal, and large numbers overflow.
TEST(Scalars, Rounding) {
  EXPECT_EQ(rounded(kHalf, 2049), 2048);
  EXPECT_EQ(rounded(kHalf, 2051), 2052);
  EXPECT_EQ(rounded(kHalf, std::ldexp(1.0, -25)), 0);
  EXPECT_EQ(rounded(kHalf, std::ldexp(1.5, -25)), std::ldexp(1.0, -24));
  EXPECT_EQ(rounded(kHalf, 65519.99), 65504);
  EXPECT_EQ(rounded(kHalf, -65520), -kInf);
  EXPECT_TRUE(std::signbit(rounded(kHalf, -1e-30)));
  EXPECT_EQ(rounded(kBFloat, 257), 256);
  EXPECT_EQ(rounded(kBFloat, 259), 260);
  EXPECT_EQ(rounded(kBFloat, std::ldexp(1.0, -133)), std::ldexp(1.0, -133));
  EXPECT_EQ(rounded(kBFloat, std::ldexp(1.0, -134)), 0);
  EXPECT_EQ(rounded(kBFloat, 3.4e38), kInf);
  EXPECT_EQ(rounded(kFloat32, 16777217), 16777216);
  EXPECT_EQ(rounded(kDouble, 0.1), 0.1);
  EXPECT_TRUE(std::isnan(rounded(kHalf, kNaN)));
}

// float16 sums, products and quotients agree with the host compiler's, for operands of all kinds.
TEST(Scalars, HalfArithmetic) {
  for (int a = 0; a < 65536; a += 97) {
    for (int b = 1; b < 65536; b += 911) {
      const std::array<std::byte, 4> bytes{std::byte(a & 255), std::byte(a >> 8),
                                           std::byte(b & 255), std::byte(b >> 8)};
      const double x = decode(kHalf, bytes.data()).number, y = decode(kHalf, &bytes[2]).number;
      if (std::isnan(x) || std::isnan(y)) continue;
      const auto same = [](double actual, _Float16 expected) {
        return actual == double{expected} || (std::isnan(actual) && std::isnan(double{expected}));
      };
      const auto hx = static_cast<_Float16>(x), hy = static_cast<_Float16>(y);
      ASSERT_TRUE(same(number(BinaryOp::Add, kHalf, x, y), static_cast<_Float16>(hx + hy)));
      ASSERT_TRUE(same(number(BinaryOp::Sub, kHalf, x, y), static_cast<_Float16>(hx - hy)));
      ASSERT_TRUE(same(number(BinaryOp::Mul, kHalf, x, y), static_cast<_Float16>(hx * hy)));
      ASSERT_TRUE(same(number(BinaryOp::Div, kHalf, x, y), static_cast<_Float16>(hx / hy)));
    }
  }
}

// In these cases, rounding an intermediate product or sum would give another result.
TEST(Scalars, FmaRoundsOnce) {
  const double e = std::ldexp(1.0, -23);
  EXPECT_EQ(fma(kFloat32, 1 + e, 1 + e, -1 - 2 * e), e * e);
  // The sum is just above a float32 tie; rounded to double, it would be the tie.
  EXPECT_EQ(fma(kFloat32, 1 + std::ldexp(1.0, -12), 1 + std::ldexp(1.0, -12), std::ldexp(1.0, -70)),
            1 + std::ldexp(1.0, -11) + e);
  // A float16 tie rounds to even; values just beside the tie round to the nearest.
  EXPECT_EQ(fma(kHalf, 3, 683, 0), 2048);
  EXPECT_EQ(fma(kHalf, 3, 683, std::ldexp(1.0, -24)), 2050);
  EXPECT_EQ(fma(kHalf, 3, 683, -std::ldexp(1.0, -24)), 2048);
  // bfloat16 rounds in the same way, here for values closer to a tie than a double can represent.
  EXPECT_EQ(fma(kBFloat, 9, 29, 0), 260);
  EXPECT_EQ(fma(kBFloat, 9, 29, std::ldexp(1.0, -80)), 262);
  EXPECT_EQ(fma(kBFloat, 7, 37, 0), 260);
  EXPECT_EQ(fma(kBFloat, 7, 37, -std::ldexp(1.0, -80)), 258);
  EXPECT_EQ(fma(kHalf, kInf, 1, -1), kInf);
  EXPECT_EQ(fma(kDouble, 0.1, 10, -1), std::fma(0.1, 10.0, -1.0));
}

struct CallCase {
  Intrinsic function;
  double x, y, expected;
};

// Calls each function with arguments that have exact results.
TEST(Scalars, Calls) {
  const std::vector<CallCase> cases = {
      {Intrinsic::Exp, 0, 0, 1},
      {Intrinsic::Exp2, 3, 0, 8},
      {Intrinsic::Log, 1, 0, 0},
      {Intrinsic::Log2, 8, 0, 3},
      {Intrinsic::Log10, 100, 0, 2},
      {Intrinsic::Sqrt, 2.25, 0, 1.5},
      {Intrinsic::Rsqrt, 0.25, 0, 2},
      {Intrinsic::Sin, 0, 0, 0},
      {Intrinsic::Cos, 0, 0, 1},
      {Intrinsic::Tan, 0, 0, 0},
      {Intrinsic::Sinh, 0, 0, 0},
      {Intrinsic::Cosh, 0, 0, 1},
      {Intrinsic::Tanh, 0, 0, 0},
      {Intrinsic::Asin, 0, 0, 0},
      {Intrinsic::Acos, 1, 0, 0},
      {Intrinsic::Atan, 0, 0, 0},
      {Intrinsic::Erf, 0, 0, 0},
      {Intrinsic::Erfc, 0, 0, 1},
      {Intrinsic::Cbrt, -8, 0, -2},
      {Intrinsic::Expm1, 0, 0, 0},
      {Intrinsic::Tgamma, 5, 0, 24},
      {Intrinsic::Floor, -1.5, 0, -2},
      {Intrinsic::Ceil, -1.5, 0, -1},
      {Intrinsic::Trunc, -1.5, 0, -1},
      {Intrinsic::Round, 2.5, 0, 3},
      {Intrinsic::Nearbyint, 2.5, 0, 2},
      {Intrinsic::Abs, -2.5, 0, 2.5},
      {Intrinsic::Power, 2, 10, 1024},
      {Intrinsic::Fmod, -7, 4, -3},
      {Intrinsic::Exp10, 2, 0, 100},
      {Intrinsic::Log1p, 0, 0, 0},
      {Intrinsic::Asinh, 0, 0, 0},
      {Intrinsic::Acosh, 1, 0, 0},
      {Intrinsic::Atanh, 0, 0, 0},
      {Intrinsic::Atan2, 0, 1, 0},
      {Intrinsic::Hypot, 3, 4, 5},
      {Intrinsic::Copysign, 3, -1, -3},
      {Intrinsic::Nextafter, 2, 2, 2},
      {Intrinsic::Ldexp, 3, -1.5, 1.5},
      {Intrinsic::NativeExp, 0, 0, 1},
      {Intrinsic::NativeExp2, 3, 0, 8},
      {Intrinsic::NativeExp10, 2, 0, 100},
      {Intrinsic::NativeLog, 1, 0, 0},
      {Intrinsic::NativeLog2, 8, 0, 3},
      {Intrinsic::NativeLog10, 100, 0, 2},
      {Intrinsic::NativeSin, 0, 0, 0},
      {Intrinsic::NativeCos, 0, 0, 1},
      {Intrinsic::NativeTan, 0, 0, 0},
      {Intrinsic::NativeSqrt, 2.25, 0, 1.5},
      {Intrinsic::NativeRsqrt, 0.25, 0, 2},
      {Intrinsic::NativeRecip, 4, 0, 0.25},
      {Intrinsic::NativeDivide, 3, 4, 0.75},
      {Intrinsic::NativePowr, 2, 10, 1024},
  };
  size_t functions = 0;
#define TL_INTRINSIC(Name, te_name, arity) ++functions;
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
  EXPECT_EQ(cases.size() + 6, functions);  // popcount, clz and dot products are of integers
  for (const CallCase& c : cases) {
    for (const Type type : {kHalf, kBFloat, kFloat32, kDouble}) {
      EXPECT_EQ(call(c.function, type, c.x, c.y), c.expected)
          << info(c.function).te_name << " of " << to_string(type);
    }
  }
  EXPECT_EQ(call(Intrinsic::Ldexp, kDouble, 1, 1e30), std::numeric_limits<double>::infinity());
  EXPECT_EQ(call(Intrinsic::Ldexp, kDouble, 1, std::nan("")), 1);
  EXPECT_EQ(call(Intrinsic::Sqrt, kFloat32, 2), double{std::sqrt(2.0F)});
  EXPECT_EQ(call(Intrinsic::Sqrt, kDouble, 2), std::sqrt(2.0));
  EXPECT_EQ(call(Intrinsic::Sqrt, kHalf, 2), 1.4140625);
}

TEST(Scalars, BitsOfIntegers) {
  const auto bits = [](Intrinsic function, Type type, int64_t x) {
    const Scalar argument = scalar_of(x);
    return apply_call(function, type, std::span(&argument, 1)).integer;
  };
  EXPECT_EQ(bits(Intrinsic::Popcount, Type::u(32), 0xF0F0F0F0), 16);
  EXPECT_EQ(bits(Intrinsic::Popcount, Type::u(64), -1), 64);
  EXPECT_EQ(bits(Intrinsic::Clz, Type::u(32), 1), 31);
  EXPECT_EQ(bits(Intrinsic::Clz, Type::u(32), 0), 32);
  EXPECT_EQ(bits(Intrinsic::Clz, Type::u(64), 1), 63);
}

TEST(Scalars, DotProductsOfWords) {
  const auto dot = [](Intrinsic function, int32_t x, int32_t y) {
    const std::array<Scalar, 2> words{scalar_of(int64_t{x}), scalar_of(int64_t{y})};
    return apply_call(function, kInt32, words).integer;
  };
  // The bytes of -1 are 255 or -1, those of 0x80808080 are 128 or -128.
  const auto signs = static_cast<int32_t>(0x80808080U);
  EXPECT_EQ(dot(Intrinsic::DotU8S8, -1, -1), -4 * 255);
  EXPECT_EQ(dot(Intrinsic::DotU8S8, -1, signs), -4 * 255 * 128);
  EXPECT_EQ(dot(Intrinsic::DotU8S8, signs, -1), -4 * 128);
  EXPECT_EQ(dot(Intrinsic::DotS8S8, -1, signs), 4 * 128);
  EXPECT_EQ(dot(Intrinsic::DotU8U8, -1, -1), 4 * 255 * 255);
  EXPECT_EQ(dot(Intrinsic::DotU8S8, 0x04030201, 0x01000001), 1 + 4);
  EXPECT_EQ(dot(Intrinsic::DotS16S16, 0x0003FFFE, 0x00050007), -14 + 15);
  // The only sum that wraps.
  const auto least = static_cast<int32_t>(0x80008000U);
  EXPECT_EQ(dot(Intrinsic::DotS16S16, least, least), std::numeric_limits<int32_t>::min());
}

TEST(Scalars, AbsOfIntegers) {
  const auto abs = [](Type type, int64_t x) {
    const Scalar argument = scalar_of(x);
    return apply_call(Intrinsic::Abs, type, std::span(&argument, 1)).integer;
  };
  EXPECT_EQ(abs(Type::i(8), -5), 5);
  EXPECT_EQ(abs(Type::i(8), -128), -128);
  EXPECT_EQ(abs(Type::u(64), -1), -1);
}

TEST(Scalars, Conversions) {
  EXPECT_EQ(converted(kInt32, Type::i(8), int64_t{200}).integer, -56);
  EXPECT_EQ(converted(kInt32, Type::u(64), int64_t{-1}).integer, -1);
  EXPECT_EQ(converted(kInt32, kBool, int64_t{256}).integer, 1);
  EXPECT_EQ(converted(kFloat32, kBool, 0.5).integer, 1);
  EXPECT_EQ(converted(kFloat32, kInt32, -2.9).integer, -2);
  EXPECT_EQ(converted(kFloat32, Type::u(8), 255.9).integer, 255);
  EXPECT_EQ(converted(kFloat32, Type::u(64), std::ldexp(1.0, 63)).integer,
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(converted(kDouble, kHalf, 2049.0000001).number, 2050);
  EXPECT_EQ(converted(Type::u(64), kDouble, int64_t{-1}).number, std::ldexp(1.0, 64));
  EXPECT_EQ(converted(kInt64, kDouble, int64_t{-3}).number, -3);
  EXPECT_EQ(converted(kInt64, kFloat32, int64_t{-16777217}).number, -16777216);
  // The value is just above a bfloat16 tie; rounded to double, it would be the tie.
  const int64_t tie = int64_t{257} << 54;
  EXPECT_EQ(converted(kInt64, kBFloat, tie).number, std::ldexp(256.0, 54));
  EXPECT_EQ(converted(kInt64, kBFloat, tie + 1).number, std::ldexp(258.0, 54));
}

TEST(Scalars, ConversionsThatDoNotFit) {
  const auto fits = [](Type to, double value) {
    return convert(kDouble, to, scalar_of(value)).has_value();
  };
  EXPECT_TRUE(fits(Type::i(8), 127.9));
  EXPECT_FALSE(fits(Type::i(8), 128));
  EXPECT_TRUE(fits(Type::i(8), -128.9));
  EXPECT_FALSE(fits(Type::i(8), -129));
  EXPECT_TRUE(fits(Type::u(8), -0.9));
  EXPECT_FALSE(fits(Type::u(8), -1));
  EXPECT_FALSE(fits(kInt64, std::ldexp(1.0, 63)));
  EXPECT_FALSE(fits(kInt32, kNaN));
  EXPECT_FALSE(fits(kInt32, kInf));
}

// All 16-bit patterns round-trip; wider types are tested at their limits.
TEST(Scalars, Memory) {
  const auto again = [](Type type, uint64_t bits) {
    std::array<std::byte, 8> bytes{};
    std::memcpy(bytes.data(), &bits, sizeof(bits));
    const Scalar value = decode(type, bytes.data());
    bytes.fill(std::byte{0});
    encode(type, value, bytes.data());
    uint64_t result = 0;
    std::memcpy(&result, bytes.data(), sizeof(result));
    return result;
  };
  for (const Type type : {Type::i(16), Type::u(16), kHalf, kBFloat}) {
    for (uint64_t bits = 0; bits < 65536; ++bits) {
      std::array<std::byte, 8> bytes{};
      std::memcpy(bytes.data(), &bits, sizeof(bits));
      const bool nan = type.is_float() && std::isnan(decode(type, bytes.data()).number);
      if (nan) continue;
      ASSERT_EQ(again(type, bits), bits) << to_string(type);
    }
  }
  EXPECT_EQ(again(Type::u(64), ~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(again(kFloat32, 0x3fc00000), 0x3fc00000U);
  EXPECT_EQ(again(kDouble, 0x3ff8000000000000), 0x3ff8000000000000U);
  EXPECT_EQ(again(kBool, 255), 1U);
}

TEST(Scalars, HalvesInMemory) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    _Float16 expected;
    std::memcpy(&expected, &half, sizeof(half));
    std::array<std::byte, 2> bytes{};
    std::memcpy(bytes.data(), &half, sizeof(half));
    const double actual = decode(kHalf, bytes.data()).number;
    if (std::isnan(double{expected})) {
      ASSERT_TRUE(std::isnan(actual));
    } else {
      ASSERT_EQ(actual, double{expected});
    }
  }
}

}  // namespace
}  // namespace texloom::ir
