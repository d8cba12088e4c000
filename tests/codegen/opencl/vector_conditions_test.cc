// Tests vectors of bools: a Select's condition has elements as wide as those of its values; all
// other vectors of bools have elements of one byte.
#include "codegen/opencl/vector_conditions.h"

#include <gtest/gtest.h>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::kBool;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

class VectorConditions : public ::testing::Test {
 protected:
  static std::string shaped(const Stmt& body) { return to_string(shape_vector_conditions(body)); }
  // The condition of a Select between vectors of two lanes of `type`.
  static std::string condition(Type type, const Expr& c) {
    const Type vector = type.with_lanes(2);
    const Expr chosen = make_select(c, ir::make_const(1, vector), ir::make_const(0, vector));
    const std::string text = shaped(put_vector(global("y", type, 8), make_int(0), chosen));
    const size_t begin = text.find("select(") + 7;
    return text.substr(begin, text.rfind(", x2(", text.rfind(", x2(") - 1) - begin);
  }
  static Expr vector(const char* name, Type type) { return ir::make_var(name, type.with_lanes(2)); }

  Expr a = vector("a", kInt32), b = vector("b", kInt32);
  Expr f = vector("f", kFloat32), g = vector("g", kFloat32);
  Expr c = vector("c", Type::i(8)), d = vector("d", Type::i(8));
  Expr u = vector("u", Type::u(16));
  Expr p = ir::make_var("p"), q = ir::make_var("q");
  ir::Buffer y = global("y", kInt32, 64);
};

TEST_F(VectorConditions, EqualWidthsStay) {
  EXPECT_EQ(condition(kFloat32, f < g), "f < g");
  EXPECT_EQ(condition(kFloat32, a < b), "a < b");
  EXPECT_EQ(condition(Type::i(8), c < d), "c < d");
  EXPECT_EQ(condition(Type::f(64), vector("w", Type::i(64)) < vector("v", Type::i(64))), "w < v");
}

TEST_F(VectorConditions, NarrowIntegersAreWidened) {
  EXPECT_EQ(condition(kFloat32, c < d), "int32x2(c) < int32x2(d)");
  EXPECT_EQ(condition(Type::i(64), u < u), "uint64x2(u) < uint64x2(u)");
  EXPECT_EQ(condition(Type::i(16), c < d), "int16x2(c) < int16x2(d)");
}

TEST_F(VectorConditions, OthersAreConverted) {
  EXPECT_EQ(condition(Type::i(8), a < b), "int8x2(select(a < b, x2(1), x2(0))) != x2(int8(0))");
  EXPECT_EQ(condition(Type::f(64), f < g), "int64x2(select(f < g, x2(1), x2(0))) != x2(int64(0))");
  EXPECT_EQ(condition(Type::i(16), f < g), "int16x2(select(f < g, x2(1), x2(0))) != x2(int16(0))");
}

TEST_F(VectorConditions, LogicKeepsOneWidth) {
  EXPECT_EQ(condition(kFloat32, a < b && c < d), "a < b && int32x2(c) < int32x2(d)");
  EXPECT_EQ(condition(kFloat32, make_binary(BinaryOp::Or, make_not(c < d), f < g)),
            "!(int32x2(c) < int32x2(d)) || f < g");
}

TEST_F(VectorConditions, OtherSourcesOfBools) {
  EXPECT_EQ(condition(kFloat32, make_broadcast(p < q, 2) && a < b),
            "x2(int32(p < q)) != x2(0) && a < b");
  EXPECT_EQ(condition(Type::i(8), ir::make_pack({p < q, q < p})),
            "pack(int8(p < q), int8(q < p)) != x2(int8(0))");
  EXPECT_EQ(condition(kFloat32, make_binary(BinaryOp::Eq, a < b, c < d)),
            "select(a < b, x2(1), x2(0)) == select(int32x2(c) < int32x2(d), x2(1), x2(0))");
  EXPECT_EQ(condition(Type::i(8), make_select(a < b, c < d, d < c)),
            "select(int8x2(select(a < b, x2(1), x2(0))) != x2(int8(0)), select(c < d, x2(int8(1)), "
            "x2(int8(0))), select(d < c, x2(int8(1)), x2(int8(0)))) != x2(int8(0))");
  EXPECT_EQ(condition(kFloat32, make_select(p < q, a < b, b < a)),
            "select(p < q, select(a < b, x2(1), x2(0)), select(b < a, x2(1), x2(0))) != x2(0)");
}

// A scalar condition stays scalar, so that only the selected operand is evaluated. The operands may
// be vectors of bools.
TEST_F(VectorConditions, ScalarConditionsStay) {
  EXPECT_EQ(condition(kFloat32, p < q), "p < q");
  EXPECT_EQ(condition(kFloat32, make_broadcast(p < q, 2)), "p < q");
  const Expr guarded = make_select(p < q, vector_at(global("z", kInt32, 4), p - q, 2) < a, b < a);
  EXPECT_EQ(shaped(put_vector(y, p, make_cast(kInt32.with_lanes(2), guarded))),
            "y[ramp(p, 1, 2)] = select(select(p < q, select(z[ramp(p - q, 1, 2)] < a, x2(1), "
            "x2(0)), select(b < a, x2(1), x2(0))) != x2(0), x2(1), x2(0))\n");
  EXPECT_EQ(shaped(put(y, p, make_select(p < q, p, q))), "y[p] = select(p < q, p, q)\n");
  EXPECT_EQ(shaped(put(y, p, make_cast(kInt32, p < q))), "y[p] = int32(p < q)\n");
}

TEST_F(VectorConditions, VariablesAreBytes) {
  const Expr v = vector("v", kBool);
  const Expr ones = ir::make_const(1, kInt32.with_lanes(2)),
             twos = ir::make_const(2, kInt32.with_lanes(2));
  EXPECT_EQ(shaped(make_let(v, a < b, put_vector(y, p, make_select(v, ones, twos)))),
            "let v: uint8x2 = select(int8x2(select(a < b, x2(1), x2(0))) != x2(int8(0)), "
            "x2(uint8(1)), x2(uint8(0)))\n"
            "y[ramp(p, 1, 2)] = select(int32x2(v) != x2(0), x2(1), x2(2))\n");
  EXPECT_EQ(shaped(make_let(v, c < d, put_vector(y, p, make_cast(kInt32.with_lanes(2), v)))),
            "let v: uint8x2 = select(c < d, x2(uint8(1)), x2(uint8(0)))\n"
            "y[ramp(p, 1, 2)] = int32x2(v)\n");
  const Expr w = vector("w", kInt32);
  const Stmt numbers = make_let(w, a, put_vector(y, p, w));
  EXPECT_EQ(shaped(numbers), to_string(numbers));
  const Expr s = ir::make_var("s", kBool);
  const Stmt scalar = make_let(s, p < q, make_if(s, put(y, p, p)));
  EXPECT_EQ(shaped(scalar), to_string(scalar));
}

TEST_F(VectorConditions, CastsAndLanesAreNumbers) {
  EXPECT_EQ(shaped(put_vector(y, p, make_cast(kInt32.with_lanes(2), c < d))),
            "y[ramp(p, 1, 2)] = select(int32x2(c) < int32x2(d), x2(1), x2(0))\n");
  EXPECT_EQ(
      shaped(put_vector(global("z", kFloat32, 4), p, make_cast(kFloat32.with_lanes(2), a < b))),
      "z[ramp(p, 1, 2)] = select(a < b, x2(1.0), x2(0.0))\n");
  const Expr v = vector("v", kBool);
  EXPECT_EQ(shaped(make_let(v, c < d, make_if(lane(v, 1), put(y, p, lane(a, 1))))),
            "let v: uint8x2 = select(c < d, x2(uint8(1)), x2(uint8(0)))\n"
            "if v.lane[1] != uint8(0) {\n  y[p] = a.lane[1]\n}\n");
  EXPECT_EQ(shaped(put_vector(y, p, make_cast(kInt32.with_lanes(2), make_select(c < d, c, d)))),
            "y[ramp(p, 1, 2)] = int32x2(select(c < d, c, d))\n");
}

// Conditions may be nested in the operands of conditions and of values.
TEST_F(VectorConditions, Nested) {
  const Expr inner = make_select(c < d, a, b);
  EXPECT_EQ(condition(kFloat32, inner < a), "select(int32x2(c) < int32x2(d), a, b) < a");
  EXPECT_EQ(shaped(put_vector(y, p, make_select(a < b, inner, inner + a))),
            "y[ramp(p, 1, 2)] = select(a < b, select(int32x2(c) < int32x2(d), a, b), "
            "select(int32x2(c) < int32x2(d), a, b) + a)\n");
  EXPECT_EQ(shaped(put_vector(y, p, make_select(p < lane(inner, 0), inner, b))),
            "y[ramp(p, 1, 2)] = select(p < select(int32x2(c) < int32x2(d), a, b).lane[0], "
            "select(int32x2(c) < int32x2(d), a, b), b)\n");
}

TEST_F(VectorConditions, RemembersExpressions) {
  Expr value = a;
  for (int k = 0; k < 60; ++k) value = value + value;
  EXPECT_EQ(as<ir::Store>(shape_vector_conditions(put_vector(y, p, value)))->value->depth,
            value->depth);
}

// -- Run: all pairs of widths of compared and selected values.

template <class T>
Type type_of() {
  const int bits = static_cast<int>(sizeof(T) * 8);
  return std::is_floating_point_v<T> ? Type::f(bits)
         : std::is_signed_v<T>       ? Type::i(bits)
                                     : Type::u(bits);
}

template <class Compared, class Chosen>
void expect_selects() {
  constexpr int kLanes = 4;
  const Type compared = type_of<Compared>(), chosen = type_of<Chosen>();
  const ir::Buffer x = global("x", compared, 8), y = global("y", chosen, 8),
                   z = global("z", chosen, 16);
  const ir::Buffer t = global("t", kBool, 8);
  const Expr zero = make_int(0), four = make_int(4);
  const Expr less = vector_at(x, zero, kLanes) < vector_at(x, four, kLanes);
  const Expr unequal =
      make_binary(BinaryOp::Ne, vector_at(y, zero, kLanes), vector_at(y, four, kLanes));
  const Expr mixed =
      make_binary(BinaryOp::Or, make_not(less) && unequal, vector_at(t, zero, kLanes));
  const Expr ones = vector_at(y, zero, kLanes), others = vector_at(y, four, kLanes);
  const auto chosen_by = [&](const Expr& condition) {
    return make_select(condition, ones + others, others);
  };
  // The values contain no loads, so nothing is split into lanes.
  const Expr v = ir::make_var("v", chosen.with_lanes(4)),
             w = ir::make_var("w", chosen.with_lanes(4));
  const Expr flag = ir::make_var("flag", kBool.with_lanes(4));
  const Stmt body = make_let(
      v, ones,
      make_let(
          w, others,
          make_let(
              flag, vector_at(t, zero, kLanes),
              ir::make_seq({
                  put_vector(z, zero, make_select(less, v, w)),
                  put_vector(z, four,
                             make_select(make_binary(BinaryOp::Or, make_not(less) && unequal, flag),
                                         v, w)),
                  put_vector(
                      z, make_int(8),
                      make_cast(chosen.with_lanes(4), make_binary(BinaryOp::Eq, less, flag))),
                  put_vector(z, make_int(12), chosen_by(mixed)),
                  put_vector(t, four, make_binary(BinaryOp::Eq, less, flag)),
              }))));
  const std::vector<Compared> left = {1, 5, 3, 100, 2, 5, 1, 101};
  const std::vector<Chosen> values = {10, 20, 30, 40, 11, 20, 33, 40};
  const std::vector<uint8_t> bits = {0, 1, 0, 1, 9, 9, 9, 9};
  std::vector<HostArray> arguments;
  const ir::Program program = TestKernel().program(body);
  for (const ir::KernelParam& param : program.kernels[0].params) {
    arguments.push_back(param.buffer.same_as(x)   ? HostArray::of(left)
                        : param.buffer.same_as(y) ? HostArray::of(values)
                        : param.buffer.same_as(z) ? HostArray::of(std::vector<Chosen>(16))
                                                  : HostArray::of(bits));
  }
  run(program, arguments);
  std::vector<Chosen> expected(16);
  std::vector<uint8_t> expected_bits = bits;
  for (size_t k = 0; k < 4; ++k) {
    const bool is_less = left[k] < left[k + 4], is_unequal = values[k] != values[k + 4],
               bit = bits[k] != 0;
    const bool is_mixed = (!is_less && is_unequal) || bit;
    expected[k] = is_less ? values[k] : values[k + 4];
    expected[k + 4] = is_mixed ? values[k] : values[k + 4];
    expected[k + 8] = static_cast<Chosen>(is_less == bit ? 1 : 0);
    expected[k + 12] = is_mixed ? static_cast<Chosen>(values[k] + values[k + 4]) : values[k + 4];
    expected_bits[k + 4] = is_less == bit ? 1 : 0;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ir::Buffer& buffer = program.kernels[0].params[k].buffer;
    if (buffer.same_as(z)) {
      EXPECT_EQ(arguments[k].as<Chosen>(), expected);
    } else if (buffer.same_as(t)) {
      EXPECT_EQ(arguments[k].as<uint8_t>(), expected_bits);
    }
  }
}

template <class Compared>
void expect_selects_of_all_types() {
  expect_selects<Compared, int8_t>();
  expect_selects<Compared, uint16_t>();
  expect_selects<Compared, float>();
  expect_selects<Compared, int64_t>();
  expect_selects<Compared, double>();
}

TEST(VectorConditionsRun, Int8) { expect_selects_of_all_types<int8_t>(); }
TEST(VectorConditionsRun, Uint16) { expect_selects_of_all_types<uint16_t>(); }
TEST(VectorConditionsRun, Float32) { expect_selects_of_all_types<float>(); }
TEST(VectorConditionsRun, Int64) { expect_selects_of_all_types<int64_t>(); }
TEST(VectorConditionsRun, Float64) { expect_selects_of_all_types<double>(); }

}  // namespace
}  // namespace texloom::codegen::opencl::testing
