// Tests widening types that exist only in memory: float16, bool, and the elements of textures.
#include "codegen/legalize/widen_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "codegen/opencl/opencl_dialect.h"
#include "support/diagnostic.h"
#include "tests/codegen/half_reference.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;
using ir::kBool;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

constexpr Type kFloat16Stored = Type::f(16);

TEST(NearestHalf, AgreesWithTheCompiler) {
  for (const uint16_t bits : all_halves()) {
    if (is_nan(bits)) continue;
    const double value = half_to_float(bits);
    EXPECT_EQ(nearest_half(value), value);
    // Three values between this half and the next: the midpoint, and its neighbors on both sides.
    const double next = half_to_float(static_cast<uint16_t>(bits + 1));
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const double middle = (value + next) / 2;
    for (const double x : {std::nextafter(middle, value), middle, std::nextafter(middle, next)}) {
      ASSERT_EQ(nearest_half(x), half_to_float(to_half(x))) << x;
    }
  }
}

TEST(NearestHalf, EndsOfTheRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(nearest_half(65519.9), 65504);
  EXPECT_EQ(nearest_half(65520), infinity);
  EXPECT_EQ(nearest_half(-1e300), -infinity);
  EXPECT_EQ(nearest_half(infinity), infinity);
  EXPECT_TRUE(std::isnan(nearest_half(std::nan(""))));
  EXPECT_TRUE(std::signbit(nearest_half(-0.0)));
  EXPECT_EQ(nearest_half(std::ldexp(1.0, -25)), 0);  // the midpoint between 0 and the least half
  EXPECT_EQ(nearest_half(std::ldexp(1.1, -25)), std::ldexp(1.0, -24));
}

// A float32 between two neighboring bfloat16 is rounded to the nearer one, a midpoint to the even.
TEST(NearestBfloat, RoundsTheUpperHalfOfAFloat) {
  for (const uint32_t upper : {0u, 1u, 0x7fu, 0x80u, 0x3f80u, 0x3f81u, 0x7f7eu}) {
    const auto number = [](uint32_t bits) { return double{std::bit_cast<float>(bits)}; };
    const double below = number(upper << 16), above = number((upper + 1) << 16);
    EXPECT_EQ(nearest_bfloat(below), below);
    EXPECT_EQ(nearest_bfloat(number(upper << 16 | 0x7fff)), below);
    EXPECT_EQ(nearest_bfloat(number(upper << 16 | 0x8001)), above);
    EXPECT_EQ(nearest_bfloat(number(upper << 16 | 0x8000)), upper % 2 == 0 ? below : above);
    EXPECT_EQ(nearest_bfloat(-below), -below);
  }
  EXPECT_EQ(nearest_bfloat(3.4e38), std::numeric_limits<double>::infinity());
}

class WidenStorage : public ::testing::Test {
 protected:
  static std::string widened(const Stmt& body) {
    return to_string(widen_storage(body, opencl_dialect({})));
  }
  // The value of a float16 expression.
  std::string half_value(const Expr& value) const {
    const std::string text = widened(put(f, make_int(0), make_cast(kFloat32, value)));
    return text.substr(7, text.size() - 8);
  }
  ir::Buffer x = global("x", kFloat16Stored, 64), y = global("y", kFloat16Stored, 64);
  ir::Buffer f = global("f", kFloat32, 64);
  Expr a = at(x, 0), b = at(x, 1), i = ir::make_var("i");
};

TEST_F(WidenStorage, RoundsInexactOperationsOnly) {
  EXPECT_EQ(half_value(a), "x[0: float32]");
  EXPECT_EQ(half_value(a + b), "float32(float16(x[0: float32] + x[1: float32]))");
  EXPECT_EQ(half_value(a * b - a),
            "float32(float16(float32(float16(x[0: float32] * x[1: float32])) - x[0: float32]))");
  EXPECT_EQ(half_value(make_binary(BinaryOp::Div, a, b)),
            "float32(float16(x[0: float32] / x[1: float32]))");
  EXPECT_EQ(half_value(min(a, max(b, a))), "min(x[0: float32], max(x[1: float32], x[0: float32]))");
  EXPECT_EQ(half_value(make_select(a < b, a, b)),
            "select(x[0: float32] < x[1: float32], x[0: float32], x[1: float32])");
  EXPECT_EQ(half_value(make_call(Intrinsic::Sqrt, {a})), "float32(float16(sqrt(x[0: float32])))");
  EXPECT_EQ(half_value(make_call(Intrinsic::Exp, {a})), "float32(float16(exp(x[0: float32])))");
  for (const Intrinsic exact : {Intrinsic::Abs, Intrinsic::Ceil, Intrinsic::Floor,
                                Intrinsic::Nearbyint, Intrinsic::Round, Intrinsic::Trunc}) {
    EXPECT_EQ(half_value(make_call(exact, {a})),
              std::string(info(exact).te_name) + "(x[0: float32])");
  }
  EXPECT_EQ(half_value(make_call(Intrinsic::Fmod, {a, b})), "fmod(x[0: float32], x[1: float32])");
  EXPECT_THROW(widened(put(y, i, make_fma(a, b, a))), UserError);
}

TEST_F(WidenStorage, VectorsOfHalf) {
  const Expr four = vector_at(x, i, 4);
  const Expr sum = four + ir::make_const(0.1, kFloat16Stored.with_lanes(4));
  EXPECT_EQ(
      widened(put_vector(f, i, make_cast(kFloat32.with_lanes(4), sum))),
      "f[ramp(i, 1, 4)] = float32x4(float16x4(x[ramp(i, 1, 4): float32x4] + x4(0.099975586)))\n");
  // A store to memory rounds its value.
  EXPECT_EQ(widened(put_vector(y, i, sum)),
            "y[ramp(i, 1, 4)] = x[ramp(i, 1, 4): float32x4] + x4(0.099975586)\n");
  EXPECT_EQ(widened(put(y, i, lane(four * four, 1))),
            "y[i] = float32x4(float16x4(x[ramp(i, 1, 4): float32x4] * x[ramp(i, 1, 4): "
            "float32x4])).lane[1]\n");
  EXPECT_EQ(widened(put_vector(y, i, ir::make_pack({a, b}))),
            "y[ramp(i, 1, 2)] = pack(x[0: float32], x[1: float32])\n");
}

TEST_F(WidenStorage, HalfConstantsAreRoundedHere) {
  EXPECT_EQ(half_value(ir::make_float(0.1, kFloat16Stored)), "0.099975586");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, ir::make_float(0.1))), "0.099975586");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, ir::make_float(1e6))), "inf");
  EXPECT_EQ(widened(put_vector(y, i,
                               make_cast(kFloat16Stored.with_lanes(2),
                                         ir::make_const(0.1, kFloat32.with_lanes(2))))),
            "y[ramp(i, 1, 2)] = x2(0.099975586)\n");
  EXPECT_EQ(widened(put(f, i, ir::make_float(0.1))), "f[i] = 0.1\n");
}

TEST_F(WidenStorage, CastsToHalfRoundOnce) {
  const ir::Buffer d = global("d", Type::f(64), 4), n = global("n", kInt32, 4);
  const ir::Buffer s = global("s", Type::i(16), 4), c = global("c", Type::i(8), 4),
                   u = global("u", Type::u(8), 4);
  const ir::Buffer q = global("q", kBool, 4);
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(f, 0))), "float32(float16(f[0]))");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(d, 0))), "float32(float16(d[0]))");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(n, 0))), "float32(float16(float32(n[0])))");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(s, 0))), "float32(float16(float32(s[0])))");
  // The conversion is exact: 8 bits fit into the 11 bits of a half's significand.
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(c, 0))), "float32(c[0])");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(u, 0))), "float32(u[0])");
  EXPECT_EQ(half_value(make_cast(kFloat16Stored, at(q, 0))), "float32(q[0: uint8] != uint8(0))");
}

TEST_F(WidenStorage, CastsFromHalf) {
  EXPECT_EQ(widened(put(f, i, make_cast(kFloat32, a * b))),
            "f[i] = float32(float16(x[0: float32] * x[1: float32]))\n");
  EXPECT_EQ(widened(put(f, i, make_cast(kFloat32, a))), "f[i] = x[0: float32]\n");
  EXPECT_EQ(widened(put(f, i, make_cast(kFloat32, make_cast(kInt32, a)))),
            "f[i] = float32(int32(x[0: float32]))\n");
}

// With half arithmetic, operations stay in half. Functions use float32, because half functions may
// be less accurate and have no native_ variants.
TEST_F(WidenStorage, HalfArithmetic) {
  const auto kept = [](const Stmt& body) {
    return to_string(widen_storage(body, opencl_dialect(half_target())));
  };
  const auto value = [&](const Expr& e) {
    const std::string text = kept(put(y, make_int(0), e));
    return text.substr(7, text.size() - 8);
  };
  EXPECT_EQ(value(a * b - a), "x[0] * x[1] - x[0]");
  EXPECT_EQ(value(make_call(Intrinsic::Sqrt, {a})), "sqrt(x[0])");
  EXPECT_EQ(value(make_call(Intrinsic::Floor, {a})), "floor(x[0])");
  EXPECT_EQ(value(make_call(Intrinsic::Exp, {a})), "float16(exp(float32(x[0])))");
  EXPECT_EQ(value(make_call(Intrinsic::NativeExp, {a})), "float16(native_exp(float32(x[0])))");
  EXPECT_EQ(value(ir::make_float(0.1, kFloat16Stored)), "float16(0.0999755859375)");
  EXPECT_EQ(value(make_cast(kFloat16Stored, at(f, 0))), "float16(f[0])");
  const ir::Buffer d = global("d", Type::f(64), 4), n = global("n", kInt32, 4);
  EXPECT_EQ(value(make_cast(kFloat16Stored, at(d, 0))), "float16(d[0])");
  EXPECT_EQ(value(make_cast(kFloat16Stored, at(n, 0))), "float16(float32(n[0]))");
  EXPECT_EQ(kept(put(f, i, make_cast(kFloat32, a * b))), "f[i] = float32(x[0] * x[1])\n");
  const ir::Buffer l = local("l", kFloat16Stored, 4);
  const Expr v = ir::make_var("v", kFloat16Stored);
  const Stmt let = make_let(v, a * b, make_allocate(l, put(l, i, v)));
  EXPECT_EQ(kept(let), to_string(let));
  const ir::Buffer s = texture("s", kFloat16Stored, 4, 4), t = texture("t", kFloat16Stored, 4, 4);
  const Stmt copy = make_texture_store(t, i, i, texel(s, i, i));
  EXPECT_EQ(kept(copy), to_string(copy));
  EXPECT_THROW(kept(put(y, i, make_fma(a, b, a))), UserError);
}

// Variables and arrays of a thread or block hold rounded values in float32.
TEST_F(WidenStorage, VariablesAndArraysOfHalf) {
  const Expr v = ir::make_var("v", kFloat16Stored);
  const Stmt let = widen_storage(make_let(v, a * b, put(y, i, v)), opencl_dialect({}));
  EXPECT_EQ(to_string(let),
            "let v: float32 = float32(float16(x[0: float32] * x[1: float32]))\ny[i] = v\n");
  const ir::Buffer l = local("l", kFloat16Stored, 4), s = shared("s", kFloat16Stored, 8);
  EXPECT_EQ(
      widened(make_allocate(l, make_allocate(s, ir::make_seq({put(l, i, a * b), put(s, i, at(l, i)),
                                                              put(y, i, at(s, 3))})))),
      "buffer.alloca l: local float32[4]\n"
      "buffer.alloca s: shared float32[8]\n"
      "l[i] = float32(float16(x[0: float32] * x[1: float32]))\n"
      "s[i] = l[i]\n"
      "y[i] = s[3]\n");
  const Expr w = ir::make_var("w", kFloat32);
  const Stmt other = make_let(w, at(f, 0), make_allocate(local("m", kFloat32, 4), put(f, i, w)));
  EXPECT_EQ(widened(other), to_string(other));
}

TEST_F(WidenStorage, BoolsAreBytes) {
  const ir::Buffer p = global("p", kBool, 64), q = global("q", kBool, 64), l = local("l", kBool, 4);
  EXPECT_EQ(widened(put(q, i, at(p, i))), "q[i] = uint8(p[i: uint8] != uint8(0))\n");
  EXPECT_EQ(widened(put_vector(q, i, vector_at(p, i, 4))),
            "q[ramp(i, 1, 4)] = uint8x4(p[ramp(i, 1, 4): uint8x4] != x4(uint8(0)))\n");
  EXPECT_EQ(widened(put(q, i, a < b)), "q[i] = uint8(x[0: float32] < x[1: float32])\n");
  EXPECT_EQ(
      widened(make_allocate(l, ir::make_seq({put(l, i, a < b), make_if(at(l, i), put(y, i, a))}))),
      "buffer.alloca l: local uint8[4]\n"
      "l[i] = uint8(x[0: float32] < x[1: float32])\n"
      "if l[i] != uint8(0) {\n  y[i] = x[0: float32]\n}\n");
}

TEST_F(WidenStorage, TexelsHave32Bits) {
  const auto copied = [&](Type type) {
    const ir::Buffer from = texture("s", type, 4, 4), to = texture("t", type, 4, 4);
    const std::string text = widened(make_texture_store(to, i, i, texel(from, i, i)));
    return text.substr(text.find("y=i, ") + 5);
  };
  EXPECT_EQ(copied(kFloat32), "texture2d.load(s, x=i, y=i: float32x4): float32x4)\n");
  EXPECT_EQ(copied(kFloat16Stored), "texture2d.load(s, x=i, y=i: float32x4): float32x4)\n");
  EXPECT_EQ(copied(Type::i(8)),
            "int32x4(int8x4(texture2d.load(s, x=i, y=i: int32x4))): int32x4)\n");
  EXPECT_EQ(copied(Type::i(16)),
            "int32x4(int16x4(texture2d.load(s, x=i, y=i: int32x4))): int32x4)\n");
  EXPECT_EQ(copied(kInt32), "texture2d.load(s, x=i, y=i: int32x4): int32x4)\n");
  EXPECT_EQ(copied(Type::u(8)),
            "uint32x4(uint8x4(texture2d.load(s, x=i, y=i: uint32x4))): uint32x4)\n");
  EXPECT_EQ(copied(Type::u(32)), "texture2d.load(s, x=i, y=i: uint32x4): uint32x4)\n");
  // The value is rounded before the write, which might round differently.
  const ir::Buffer h = texture("h", kFloat16Stored, 4, 4);
  const Expr four = vector_at(x, i, 4);
  EXPECT_EQ(widened(make_texture_store(h, i, i, four * four)),
            "texture2d.store(h, x=i, y=i, float32x4(float16x4(x[ramp(i, 1, 4): float32x4] * "
            "x[ramp(i, 1, 4): float32x4])): float32x4)\n");
}

TEST_F(WidenStorage, GoesThroughCoordinatesAndLoops) {
  const ir::Buffer t = texture("t", kFloat32, 4, 4);
  const Expr place = make_cast(kInt32, a * b);
  const std::string widened_place = "int32(float32(float16(x[0: float32] * x[1: float32])))";
  EXPECT_EQ(widened(make_for(i, place, ir::LoopKind::Serial,
                             make_texture_store(t, place, place, texel(t, place, place)))),
            "for i < " + widened_place + " {\n  texture2d.store(t, x=" + widened_place +
                ", y=" + widened_place + ", texture2d.load(t, x=" + widened_place +
                ", y=" + widened_place + ": float32x4): float32x4)\n}\n");
  EXPECT_EQ(widened(put(f, place, at(f, place))),
            "f[" + widened_place + "] = f[" + widened_place + "]\n");
}

// Each node of a deep graph of shared nodes is rewritten once.
TEST_F(WidenStorage, RemembersExpressions) {
  Expr value = a;
  for (int k = 0; k < 60; ++k) value = value + value;
  EXPECT_NE(as<ir::Store>(widen_storage(put(y, i, value), opencl_dialect({}))), nullptr);
}

// -- Run: every half against a few others, bit for bit.

using HalfOperation = float (*)(float, float);

void expect_half_arithmetic(const std::function<Expr(Expr, Expr)>& make, HalfOperation reference,
                            int lanes) {
  constexpr int kCount = 65536;
  const ir::Buffer x = global("x", kFloat16Stored, kCount), y = global("y", kFloat16Stored, kCount),
                   z = global("z", kFloat16Stored, kCount);
  TestKernel kernel;
  const Expr block = kernel.axis("blockIdx.x", kCount / 64 / lanes);
  const Expr i = block * (64 * lanes) + kernel.axis("threadIdx.x", 64) * lanes;
  const auto load = [&](const ir::Buffer& buffer) {
    return lanes == 1 ? at(buffer, i) : vector_at(buffer, i, lanes);
  };
  const Expr value = make(load(x), load(y));
  const ir::Program program =
      kernel.program(lanes == 1 ? put(z, i, value) : put_vector(z, i, value));
  const std::vector<uint16_t> left = all_halves();
  constexpr std::array<uint16_t, 7> kOthers = {0x3c01, 1, 0xb555, 0x7bff, 0x8400, 0x4249, 0x13ff};
  for (const uint16_t other : kOthers) {
    std::vector<uint16_t> right(kCount, other);
    for (size_t k = 0; k < kCount; k += 3) right[k] = static_cast<uint16_t>(k * 40503);
    std::vector<HostArray> arguments = {HostArray::of(std::vector<uint16_t>(kCount)),
                                        HostArray::of(left), HostArray::of(right)};
    arguments.resize(program.kernels[0].params.size());  // some operations have one operand
    run(program, arguments);
    const std::vector<uint16_t> result = arguments[0].as<uint16_t>();
    for (size_t k = 0; k < kCount; ++k) {
      const uint16_t expected = to_half(reference(half_to_float(left[k]), half_to_float(right[k])));
      if (is_nan(expected)) {
        ASSERT_TRUE(is_nan(result[k])) << k;
      } else {
        ASSERT_EQ(result[k], expected) << std::hex << left[k] << " and " << right[k];
      }
    }
  }
}

Expr quotient(const Expr& a, const Expr& b) { return make_binary(BinaryOp::Div, a, b); }

TEST(HalfArithmetic, Sums) {
  expect_half_arithmetic([](Expr a, Expr b) { return a + b; },
                         [](float a, float b) { return a + b; }, 1);
}
TEST(HalfArithmetic, DifferencesOfVectors) {
  expect_half_arithmetic([](Expr a, Expr b) { return a - b; },
                         [](float a, float b) { return a - b; }, 4);
}
TEST(HalfArithmetic, Products) {
  expect_half_arithmetic([](Expr a, Expr b) { return a * b; },
                         [](float a, float b) { return a * b; }, 1);
}
TEST(HalfArithmetic, QuotientsOfVectors) {
  expect_half_arithmetic(quotient, [](float a, float b) { return a / b; }, 8);
}
TEST(HalfArithmetic, SquareRoots) {
  expect_half_arithmetic([](const Expr& a, const Expr&) { return make_call(Intrinsic::Sqrt, {a}); },
                         [](float a, float) { return std::sqrt(a); }, 2);
}
// Each of the two operations is rounded.
TEST(HalfArithmetic, ChainsAreRoundedAtEachStep) {
  expect_half_arithmetic([](Expr a, Expr b) { return a * b + b; },
                         [](float a, float b) { return half_to_float(to_half(a * b)) + b; }, 1);
}

// float64 is rounded in one step: going through float32 could create a false tie.
TEST(HalfArithmetic, DoubleIsRoundedOnce) {
  const std::vector<double> inputs = {1 + std::ldexp(1, -11) + std::ldexp(1, -40),
                                      1 + std::ldexp(1, -11) - std::ldexp(1, -40), 65519.99999999,
                                      std::ldexp(1, -25) + std::ldexp(1, -60)};
  const ir::Buffer d = global("d", Type::f(64), 4), h = global("h", kFloat16Stored, 4);
  const ir::Program program = TestKernel().program(put_vector(
      h, make_int(0), make_cast(kFloat16Stored.with_lanes(4), vector_at(d, make_int(0), 4))));
  std::vector<HostArray> arguments = {HostArray::of(std::vector<uint16_t>(4)),
                                      HostArray::of(inputs)};
  run(program, arguments);
  std::vector<uint16_t> expected;
  for (const double x : inputs) expected.push_back(to_half(x));
  EXPECT_EQ(arguments[0].as<uint16_t>(), expected);
}

// Narrow textures wrap like memory, and half textures hold rounded values.
TEST(StorageRun, TexturesOfAllTypes) {
  const std::vector<std::pair<Type, int>> types = {{Type::i(8), 300},    {Type::u(8), 300},
                                                   {Type::i(16), 70000}, {Type::u(16), 70000},
                                                   {Type::i(32), 5},     {Type::u(32), 5}};
  for (const auto& [type, added] : types) {
    const ir::Buffer from = texture("from", type, 4, 2), to = texture("to", type, 4, 2);
    const Expr x = ir::make_var("x"), y = ir::make_var("y");
    const Expr value = texel(from, x, y) + make_broadcast(ir::make_int(added, type), 4);
    const Stmt body = make_for(
        y, make_int(2), ir::LoopKind::Serial,
        make_for(x, make_int(4), ir::LoopKind::Serial, make_texture_store(to, x, y, value)));
    std::vector<uint8_t> input(static_cast<size_t>(32 * type.bytes()));
    for (size_t k = 0; k < input.size(); ++k) input[k] = static_cast<uint8_t>(k * 37 + 11);
    std::vector<uint8_t> expected = input;
    for (size_t k = 0; k < 32; ++k) {
      uint64_t element = 0;
      std::memcpy(&element, &expected[k * static_cast<size_t>(type.bytes())],
                  static_cast<size_t>(type.bytes()));
      element += static_cast<uint64_t>(added);
      std::memcpy(&expected[k * static_cast<size_t>(type.bytes())], &element,
                  static_cast<size_t>(type.bytes()));
    }
    std::vector<HostArray> arguments = {HostArray::of(std::vector<uint8_t>(input.size())),
                                        HostArray::of(input)};
    run(TestKernel().program(body), arguments);
    EXPECT_EQ(arguments[0].as<uint8_t>(), expected) << to_string(type);
  }
}

TEST(StorageRun, HalfTextures) {
  constexpr int kWidth = 128;
  const ir::Buffer from = texture("from", kFloat16Stored, kWidth, kWidth),
                   to = texture("to", kFloat16Stored, kWidth, kWidth);
  TestKernel kernel;
  const Expr y = kernel.axis("blockIdx.x", kWidth), x = kernel.axis("threadIdx.x", kWidth);
  const Expr value = texel(from, x, y) * ir::make_const(1.0009765625, kFloat16Stored.with_lanes(4));
  std::vector<HostArray> arguments = {HostArray::of(std::vector<uint16_t>(65536)),
                                      HostArray::of(all_halves())};
  run(kernel.program(make_texture_store(to, x, y, value)), arguments);
  const std::vector<uint16_t> result = arguments[0].as<uint16_t>();
  for (const uint16_t bits : all_halves()) {
    const uint16_t expected = to_half(half_to_float(bits) * 1.0009765625F);
    if (is_nan(expected)) continue;
    ASSERT_EQ(result[bits], expected) << bits;
  }
}

// Reads outside an image give zero. Passes that move reads rely on the zero.
TEST(StorageRun, OutsideAnImageIsZero) {
  const ir::Buffer from = texture("from", kFloat32, 2, 2), to = global("to", kFloat32, 64);
  const ir::Buffer where = global("where", kInt32, 8);
  const Expr k = ir::make_var("k");
  const Expr value = texel(from, at(where, k * 2), at(where, k * 2 + 1));
  std::vector<HostArray> arguments = {
      HostArray::of(std::vector<float>(64, 7)), HostArray::of(std::vector<float>(16, 5)),
      HostArray::of(std::vector<int32_t>{-1, 0, 2, 1, 0, -1, 1, 2})};
  run(TestKernel().program(
          make_for(k, make_int(4), ir::LoopKind::Serial, put_vector(to, k * 4, value))),
      arguments);
  std::vector<float> expected(64, 7);
  std::fill_n(expected.begin(), 16, 0.0F);
  EXPECT_EQ(arguments[0].as<float>(), expected);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
