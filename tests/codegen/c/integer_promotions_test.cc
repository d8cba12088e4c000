// Tests rewriting integer operations so that they mean the same in C-like languages as in the IR:
// promotions and wrapping, then divisions.
#include "codegen/c/integer_promotions.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "codegen/legalize/integer_divisions.h"
#include "codegen/legalize/kernel_ranges.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::kBool;
using ir::kInt32;
using ir::kInt64;
using ir::make_int;
using ir::Stmt;
using ir::Type;

Stmt make_integers_explicit(const Stmt& body, const ir::arith::Ranges& ranges) {
  return make_divisions_explicit(make_promotions_explicit(body, ranges), ranges);
}

Expr op(BinaryOp o, const Expr& a, const Expr& b) { return make_binary(o, a, b); }

class IntegerArithmetic : public ::testing::Test {
 protected:
  // Prints the value of a store whose operands are loaded from memory of `type`.
  static std::string value(Type type, const std::function<Expr(Expr, Expr)>& make) {
    const ir::Buffer x = global("x", type, 64), y = global("y", Type::f(32), 64);
    const Expr result = make(at(x, 0), at(x, 1));
    return stored(put(global("y", result->type, 64), make_int(0), result));
  }
  static std::string vector_value(Type type, const std::function<Expr(Expr, Expr)>& make) {
    const ir::Buffer x = global("x", type, 64);
    const Expr result = make(vector_at(x, make_int(0), 4), vector_at(x, make_int(4), 4));
    std::string text =
        stored(put_vector(global("y", result->type.element(), 64), make_int(0), result));
    for (const auto& [from, to] : {std::pair{"x[ramp(0, 1, 4)]", "a"}, {"x[ramp(4, 1, 4)]", "b"}}) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
        text.replace(at, std::string_view(from).size(), to);
      }
    }
    return text;
  }
  // Prints the stored value for an int32 expression of index variables: `i` in [0, 7], `k` in
  // [-4, 4], `n` unknown.
  std::string index_value(const Expr& e) const {
    ir::arith::Ranges ranges;
    ranges.set(i, {0, 7});
    ranges.set(k, {-4, 4});
    return stored_in(put(global("y", e->type, 64), make_int(0), e), ranges);
  }
  static std::string stored(const Stmt& body) { return stored_in(body, {}); }
  static std::string stored_in(const Stmt& body, const ir::arith::Ranges& ranges) {
    const std::string text = to_string(make_integers_explicit(body, ranges));
    const size_t begin = text.find(" = ") + 3;
    return text.substr(begin, text.size() - begin - 1);
  }

  Expr i = ir::make_var("i"), k = ir::make_var("k"), n = ir::make_var("n");
};

#define TL_OP(o) [](Expr a, Expr b) { return op(BinaryOp::o, a, b); }

TEST_F(IntegerArithmetic, NarrowScalarsWrapIn32Bits) {
  EXPECT_EQ(value(Type::i(8), TL_OP(Add)), "int8(uint32(x[0]) + uint32(x[1]))");
  EXPECT_EQ(value(Type::i(16), TL_OP(Sub)), "int16(uint32(x[0]) - uint32(x[1]))");
  EXPECT_EQ(value(Type::u(8), TL_OP(Mul)), "uint8(uint32(x[0]) * uint32(x[1]))");
  EXPECT_EQ(value(Type::u(16), TL_OP(Shl)), "uint16(uint32(x[0]) << uint32(x[1]))");
}

TEST_F(IntegerArithmetic, WideScalarsWrapUnsigned) {
  EXPECT_EQ(value(kInt32, TL_OP(Add)), "int32(uint32(x[0]) + uint32(x[1]))");
  EXPECT_EQ(value(kInt64, TL_OP(Mul)), "int64(uint64(x[0]) * uint64(x[1]))");
  EXPECT_EQ(value(Type::u(32), TL_OP(Add)), "x[0] + x[1]");
  EXPECT_EQ(value(Type::u(64), TL_OP(Shl)), "x[0] << x[1]");
  // Chained operations stay unsigned.
  EXPECT_EQ(value(kInt32, [](Expr a, Expr b) { return a * b + a; }),
            "int32(uint32(x[0]) * uint32(x[1]) + uint32(x[0]))");
  // A conversion to another width ends the chain of unsigned operations.
  EXPECT_EQ(value(kInt32,
                  [](Expr a, Expr b) { return make_cast(kInt32, make_cast(Type::u(64), a)) + b; }),
            "int32(uint32(int32(uint64(x[0]))) + uint32(x[1]))");
}

TEST_F(IntegerArithmetic, VectorsAreNotPromoted) {
  EXPECT_EQ(vector_value(Type::i(8), TL_OP(Add)), "int8x4(uint8x4(a) + uint8x4(b))");
  EXPECT_EQ(vector_value(Type::u(8), TL_OP(Sub)), "a - b");
  EXPECT_EQ(vector_value(kInt32, TL_OP(Shl)), "int32x4(uint32x4(a) << uint32x4(b))");
  EXPECT_EQ(vector_value(Type::i(16), TL_OP(BitAnd)), "a & b");
  EXPECT_EQ(vector_value(Type::i(8), TL_OP(Div)), "int8x4(int32x4(a) / int32x4(b))");
}

// Sums of narrow products cannot overflow, so they stay signed.
TEST_F(IntegerArithmetic, WhatCannotOverflowStaysSigned) {
  const auto wide = [](Type type, const Expr& e) { return make_cast(type, e); };
  EXPECT_EQ(value(Type::i(8), [&](Expr a, Expr b) { return wide(kInt32, a) * wide(kInt32, b); }),
            "int32(x[0]) * int32(x[1])");
  EXPECT_EQ(value(Type::u(16), [&](Expr a, Expr b) { return wide(kInt32, a) * wide(kInt32, b); }),
            "int32(uint32(int32(x[0])) * uint32(int32(x[1])))");
  EXPECT_EQ(value(Type::u(16), [&](Expr a, Expr b) { return wide(kInt64, a) * wide(kInt64, b); }),
            "int64(x[0]) * int64(x[1])");
  EXPECT_EQ(value(Type::i(16), [&](Expr a, Expr b) { return wide(kInt32, a) - wide(kInt32, b); }),
            "int32(x[0]) - int32(x[1])");
}

// Lowering has proved that index arithmetic does not overflow.
TEST_F(IntegerArithmetic, IndexArithmeticStaysSigned) {
  EXPECT_EQ(index_value(i * 1000000 + n), "i * 1000000 + n");
  // A variable bound to data counts as data; a variable bound to an index does not.
  const ir::Buffer x = global("x", kInt32, 4), y = global("y", kInt32, 4);
  const Expr v = ir::make_var("v"), w = ir::make_var("w");
  ir::Kernel kernel;
  kernel.body = make_let(v, at(x, 0), make_let(w, v, put(y, i, w + 1)));
  EXPECT_EQ(to_string(make_integers_explicit(kernel.body, ranges_of(kernel))),
            "let v: int32 = x[0]\nlet w: int32 = v\ny[i] = int32(uint32(w) + uint32(1))\n");
  EXPECT_EQ(to_string(make_integers_explicit(make_let(v, i, put(y, i, v + n)), {})),
            "let v: int32 = i\ny[i] = v + n\n");
  const ir::Buffer t = texture("t", kInt32, 4, 4);
  EXPECT_EQ(to_string(make_integers_explicit(put(y, i, lane(texel(t, i, i), 0) + 1), {})),
            "y[i] = int32(uint32(texture2d.load(t, x=i, y=i: int32x4).lane[0]) + uint32(1))\n");
}

TEST_F(IntegerArithmetic, OtherNarrowOperations) {
  EXPECT_EQ(value(Type::i(8), TL_OP(BitAnd)), "int8(int32(x[0]) & int32(x[1]))");
  EXPECT_EQ(value(Type::u(16), TL_OP(BitOr)), "uint16(int32(x[0]) | int32(x[1]))");
  EXPECT_EQ(value(Type::i(16), TL_OP(Shr)), "int16(int32(x[0]) >> int32(x[1]))");
  EXPECT_EQ(value(Type::i(8), TL_OP(Div)), "int8(int32(x[0]) / int32(x[1]))");
  EXPECT_EQ(value(Type::i(8), TL_OP(Mod)), "int8(truncmod(int32(x[0]), int32(x[1])))");
  EXPECT_EQ(value(Type::i(8), TL_OP(Min)), "min(x[0], x[1])");
  EXPECT_EQ(value(Type::u(16), TL_OP(Max)), "max(x[0], x[1])");
  EXPECT_EQ(value(kInt32, TL_OP(BitXor)), "x[0] ^ x[1]");
  EXPECT_EQ(value(Type::i(8), TL_OP(Lt)), "x[0] < x[1]");
  EXPECT_EQ(value(Type::f(32), TL_OP(Add)), "x[0] + x[1]");
  EXPECT_EQ(value(Type::f(32), TL_OP(Div)), "x[0] / x[1]");
}

TEST_F(IntegerArithmetic, NarrowSelectsHave32Bits) {
  const auto select = [](Expr a, Expr b) { return make_select(a < b, a, b); };
  EXPECT_EQ(value(Type::i(8), select), "int8(select(x[0] < x[1], int32(x[0]), int32(x[1])))");
  EXPECT_EQ(value(kInt32, select), "select(x[0] < x[1], x[0], x[1])");
  EXPECT_EQ(value(Type::f(32), select), "select(x[0] < x[1], x[0], x[1])");
  EXPECT_EQ(value(Type::i(8), [](Expr a, Expr b) { return make_select(a < b, a < b, b < a); }),
            "select(x[0] < x[1], x[0] < x[1], x[1] < x[0])");
  EXPECT_EQ(vector_value(Type::i(8), select), "select(a < b, a, b)");
}

TEST_F(IntegerArithmetic, FloorOperationsOfNaturalNumbers) {
  EXPECT_EQ(index_value(floordiv(i, 3)), "i / 3");
  EXPECT_EQ(index_value(floormod(i, 3)), "truncmod(i, 3)");
  EXPECT_EQ(index_value(floordiv(i, 4)), "i / 4");
  EXPECT_EQ(index_value(floordiv(k + 4, 3)), "(k + 4) / 3");
  EXPECT_EQ(value(Type::u(32), TL_OP(FloorDiv)), "x[0] / x[1]");
  EXPECT_EQ(value(Type::u(64), TL_OP(FloorMod)), "truncmod(x[0], x[1])");
  EXPECT_EQ(value(Type::u(8), TL_OP(FloorDiv)), "uint8(int32(x[0]) / int32(x[1]))");
}

TEST_F(IntegerArithmetic, FloorOperationsByPowersOfTwo) {
  EXPECT_EQ(index_value(floordiv(k, 4)), "k >> 2");
  EXPECT_EQ(index_value(floormod(k, 4)), "k & 3");
  EXPECT_EQ(index_value(floordiv(n, 1 << 30)), "n >> 30");
  EXPECT_EQ(index_value(floormod(n, 2)), "n & 1");
  EXPECT_EQ(vector_value(kInt64,
                         [](Expr a, const Expr&) {
                           return floordiv(a, ir::make_const(8, kInt64.with_lanes(4)));
                         }),
            "a >> x4(int64(3))");
  EXPECT_EQ(vector_value(kInt32,
                         [](Expr a, const Expr&) {
                           return floormod(a, ir::make_const(8, kInt32.with_lanes(4)));
                         }),
            "a & x4(7)");
}

// The remainder of the least number by -1 is 0, but C does not define it.
TEST_F(IntegerArithmetic, RemaindersByMinusOne) {
  EXPECT_EQ(value(kInt64, TL_OP(FloorMod)),
            "floormod(x[0], select(x[1] == int64(-1), int64(1), x[1]))");
  EXPECT_EQ(value(kInt32, TL_OP(Mod)), "truncmod(x[0], select(x[1] == -1, 1, x[1]))");
  EXPECT_EQ(vector_value(kInt32, TL_OP(Mod)), "truncmod(a, select(b == x4(-1), x4(1), b))");
  EXPECT_EQ(value(Type::u(32), TL_OP(Mod)), "truncmod(x[0], x[1])");
  EXPECT_EQ(value(kInt32, [](Expr a, const Expr&) { return op(BinaryOp::Mod, a, make_int(-3)); }),
            "truncmod(x[0], -3)");
}

TEST_F(IntegerArithmetic, OtherFloorOperationsAreFunctions) {
  EXPECT_EQ(index_value(floordiv(k, 3)), "floordiv(k, 3)");
  EXPECT_EQ(index_value(floormod(n, 3)), "floormod(n, 3)");
  EXPECT_EQ(index_value(floordiv(k, make_int(-4))), "floordiv(k, -4)");
  EXPECT_EQ(index_value(floordiv(i, k)), "floordiv(i, k)");
  EXPECT_EQ(index_value(floordiv(k, i)), "floordiv(k, i)");
  EXPECT_EQ(value(Type::i(8), TL_OP(FloorDiv)), "int8(floordiv(int32(x[0]), int32(x[1])))");
  EXPECT_EQ(value(Type::i(16), TL_OP(FloorMod)), "int16(floormod(int32(x[0]), int32(x[1])))");
  EXPECT_EQ(vector_value(Type::i(8), TL_OP(FloorMod)), "int8x4(floormod(int32x4(a), int32x4(b)))");
  // max(a, 0) is not negative, but its operand is a loaded value, which may have overflowed.
  EXPECT_EQ(value(kInt32, [](Expr a, const Expr&) { return floordiv(max(a, make_int(0)), 3); }),
            "floordiv(max(x[0], 0), 3)");
}

TEST_F(IntegerArithmetic, DivisionsThatFoldAway) {
  EXPECT_EQ(value(Type::i(8),
                  [](Expr a, const Expr&) {
                    return op(BinaryOp::FloorDiv, a - a, ir::make_int(3, Type::i(8)));
                  }),
            "int8(floordiv(int32(int8(uint32(x[0]) - uint32(x[0]))), 3))");
  EXPECT_EQ(index_value(make_cast(kInt32, op(BinaryOp::Mod, ir::make_cast(Type::i(8), k),
                                             ir::make_int(3, Type::i(8))))),
            "int32(int8(truncmod(int32(int8(k)), 3)))");
}

TEST_F(IntegerArithmetic, BoolsHaveOneBit) {
  EXPECT_EQ(value(kBool, TL_OP(Add)), "(uint32(x[0]) + uint32(x[1]) & uint32(1)) != uint32(0)");
  EXPECT_EQ(value(kBool, TL_OP(BitXor)),
            "((uint32(x[0]) ^ uint32(x[1])) & uint32(1)) != uint32(0)");
  EXPECT_EQ(value(kBool, TL_OP(And)), "x[0] && x[1]");
  EXPECT_EQ(value(kBool, TL_OP(Eq)), "x[0] == x[1]");
  EXPECT_EQ(vector_value(kBool, TL_OP(Max)),
            "(max(uint32x4(a), uint32x4(b)) & x4(uint32(1))) != x4(uint32(0))");
}

TEST_F(IntegerArithmetic, CastsToBoolAreComparisons) {
  const auto truth = [](Expr a, const Expr&) {
    return make_cast(kBool.with_lanes(a->type.lanes), a);
  };
  EXPECT_EQ(value(kInt32, truth), "x[0] != 0");
  EXPECT_EQ(value(Type::f(32), truth), "x[0] != 0.0");
  EXPECT_EQ(vector_value(Type::i(8), truth), "a != x4(int8(0))");
}

// Each node of a deep graph of shared nodes is rewritten once.
TEST_F(IntegerArithmetic, RemembersExpressions) {
  Expr sum = at(global("x", Type::u(32), 4), 0);
  for (int depth = 0; depth < 60; ++depth) sum = sum + sum;
  const ir::Buffer y = global("y", Type::u(32), 4);
  EXPECT_EQ(as<ir::Store>(make_integers_explicit(put(y, make_int(0), sum), {}))->value->depth,
            sum->depth);
}

TEST(RangesOf, AxesLoopsAndLets) {
  TestKernel kernel;
  const Expr axis = kernel.axis("threadIdx.x", 8);
  const Expr i = ir::make_var("i"), j = ir::make_var("j"), v = ir::make_var("v");
  const ir::Buffer y = global("y", kInt32, 64);
  const ir::Program program = kernel.program(
      make_for(i, make_int(5), ir::LoopKind::Serial,
               make_let(v, axis + i, make_for(j, v + 2, ir::LoopKind::Serial, put(y, j, j)))));
  const ir::arith::Ranges ranges = ranges_of(program.kernels[0]);
  EXPECT_EQ(ranges.of(axis.get()), (ir::arith::Interval{0, 7}));
  EXPECT_EQ(ranges.of(i.get()), (ir::arith::Interval{0, 4}));
  EXPECT_EQ(ranges.of(v.get()), (ir::arith::Interval{0, 11}));
  EXPECT_EQ(ranges.of(j.get()), (ir::arith::Interval{0, 12}));
}

// -- Run: results are compared with 64-bit arithmetic truncated to the type.

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::vector<int64_t> interesting_values(Type type) {
  std::vector<int64_t> values;
  if (type.bits == 8) {
    for (int64_t v = 0; v < 256; ++v) values.push_back(wrapped(v, type));
    return values;
  }
  uint64_t state = 12345;
  for (int k = 0; k < 240; ++k) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const int64_t random = static_cast<int64_t>(state) >> (k % 64);
    values.push_back(wrapped(random, type));
  }
  const std::initializer_list<int64_t> ends = {0, 1, -1, 2, -2, 7, -7, 8};
  for (const int64_t v : ends) values.push_back(wrapped(v, type));
  const uint64_t greatest = (uint64_t{1} << (type.bits - 1)) - 1;
  for (const int64_t v : ends)
    values.push_back(wrapped(static_cast<int64_t>(greatest + static_cast<uint64_t>(v)), type));
  return values;
}

HostArray to_memory(const std::vector<int64_t>& values, Type type) {
  HostArray result;
  const auto size = static_cast<size_t>(type.bytes());
  for (const int64_t v : values) {
    result.bytes.resize(result.bytes.size() + size);
    std::memcpy(result.bytes.data() + result.bytes.size() - size, &v, size);
  }
  return result;
}

using Reference = int64_t (*)(int64_t, int64_t);

int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
int64_t subtract(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
int64_t multiply(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
int64_t shift_left(int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) << uint64_t(b));
}
int64_t shift_right(int64_t a, int64_t b) { return a >> b; }
int64_t divide(int64_t a, int64_t b) { return a / b; }
int64_t remainder(int64_t a, int64_t b) { return a % b; }
int64_t floor_remainder(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
int64_t exclusive_or(int64_t a, int64_t b) { return a ^ b; }
int64_t minimum(int64_t a, int64_t b) { return std::min(a, b); }
int64_t maximum(int64_t a, int64_t b) { return std::max(a, b); }

const std::vector<std::pair<BinaryOp, Reference>> kOperations = {
    {BinaryOp::Add, add},
    {BinaryOp::Sub, subtract},
    {BinaryOp::Mul, multiply},
    {BinaryOp::Shl, shift_left},
    {BinaryOp::BitXor, exclusive_or},
    // The reference functions of the operations below compute signed results.
    {BinaryOp::Shr, shift_right},
    {BinaryOp::Min, minimum},
    {BinaryOp::Max, maximum},
    {BinaryOp::Div, divide},
    {BinaryOp::Mod, remainder},
    {BinaryOp::FloorDiv, floor_div},
    {BinaryOp::FloorMod, floor_remainder},
};
constexpr size_t kOperationsOfUint64 = 5;

// Makes the right operand valid: the IR does not define division by zero, division by -1 in types
// of 32 or more bits (which may overflow), or shifts by the type's number of bits or more.
int64_t right_operand(BinaryOp o, int64_t b, Type type) {
  if (o == BinaryOp::Shl || o == BinaryOp::Shr) return b & (type.bits - 1);
  const bool undefined = b == 0 || (b == -1 && type.bits >= 32);
  return is_division(o) && undefined ? 3 : b;
}

class IntegerRun : public ::testing::TestWithParam<Type> {
 protected:
  // Applies all operations to all pairs of the type's values, as scalars or vectors.
  static void expect_all(Type type, int lanes) {
    const std::vector<int64_t> values = interesting_values(type);
    const auto count = static_cast<int64_t>(values.size() * values.size());
    TestKernel kernel;
    const Expr block = kernel.axis("blockIdx.x", count / 64 / lanes);
    const Expr place = block * (64 * lanes) + kernel.axis("threadIdx.x", 64) * lanes;
    const Expr index = lanes == 1 ? place : ramp(place, lanes);
    ir::Stmts stores;
    std::vector<HostArray> arguments, expected;
    const bool is_uint64 = type == Type::u(64);
    const size_t operations = is_uint64 ? kOperationsOfUint64 : kOperations.size();
    for (size_t k = 0; k < operations; ++k) {
      const auto& [o, reference] = kOperations[k];
      const ir::Buffer z = global("z", type, count), x = global("x", type, count),
                       y = global("y", type, count);
      stores.push_back(put(z, index, op(o, at(x, index), at(y, index))));
      std::vector<int64_t> left, right, results;
      for (const int64_t a : values) {
        for (const int64_t b : values) {
          left.push_back(a);
          right.push_back(right_operand(o, b, type));
          results.push_back(wrapped(reference(a, right.back()), type));
        }
      }
      arguments.push_back(to_memory(std::vector<int64_t>(left.size()), type));
      arguments.push_back(to_memory(left, type));
      arguments.push_back(to_memory(right, type));
      expected.push_back(to_memory(results, type));
    }
    run(kernel.program(ir::make_seq(stores)), arguments);
    for (size_t k = 0; k < operations; ++k) {
      EXPECT_EQ(arguments[3 * k].bytes, expected[k].bytes)
          << spelling(kOperations[k].first) << " of " << to_string(type.with_lanes(lanes));
    }
  }
};

TEST_P(IntegerRun, Scalars) { expect_all(GetParam(), 1); }
TEST_P(IntegerRun, Vectors) { expect_all(GetParam(), 4); }

INSTANTIATE_TEST_SUITE_P(Types, IntegerRun,
                         ::testing::Values(Type::i(8), Type::u(8), Type::i(16), Type::u(16),
                                           Type::i(32), Type::u(32), Type::i(64), Type::u(64)),
                         [](const auto& one) { return to_string(one.param); });

}  // namespace
}  // namespace texloom::codegen::opencl::testing
