#include <gtest/gtest.h>

#include <limits>

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::ir::arith {

// Printed when a comparison fails.
inline void PrintTo(const Interval& i, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << i.min << ".." << i.max;
}

namespace {

constexpr int64_t kNone = Interval::kNone;
constexpr Interval kInts{-2147483648, 2147483647};
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(Interval, Ends) {
  const Interval all = Interval::everything();
  EXPECT_FALSE(all.has_min() || all.has_max() || all.bounded() || all.is_point());
  const Interval some{-2, 3}, below{-kNone, 3}, above{-2, kNone};
  EXPECT_TRUE(some.has_min() && some.has_max() && some.bounded());
  EXPECT_FALSE(below.has_min());
  EXPECT_TRUE(below.has_max());
  EXPECT_FALSE(below.bounded());
  EXPECT_TRUE(above.has_min());
  EXPECT_FALSE(above.has_max());
  EXPECT_FALSE(above.bounded());
  EXPECT_TRUE(Interval({-kNone + 1, kNone - 1}).bounded());
  EXPECT_TRUE(Interval::point(4).is_point());
  EXPECT_FALSE(some.is_point());
  EXPECT_FALSE(Interval::point(kNone).is_point());
  EXPECT_TRUE(some.within(-2, 3));
  EXPECT_FALSE(some.within(-1, 3));
  EXPECT_FALSE(some.within(-2, 2));
}

TEST(Interval, Arithmetic) {
  const Interval a{-2, 3}, b{4, 7};
  EXPECT_EQ(a + b, (Interval{2, 10}));
  EXPECT_EQ(a - b, (Interval{-9, -1}));
  EXPECT_EQ(a * b, (Interval{-14, 21}));
  EXPECT_EQ(a * Interval::point(-2), (Interval{-6, 4}));
  EXPECT_EQ(join(a, b), (Interval{-2, 7}));
  EXPECT_EQ(join(b, a), (Interval{-2, 7}));
  EXPECT_EQ(join(Interval{0, 9}, a), (Interval{-2, 9}));
  EXPECT_EQ(meet(Interval{0, 9}, a), (Interval{0, 3}));
  EXPECT_EQ(meet(a, Interval{0, 9}), (Interval{0, 3}));
}

TEST(Interval, QuotientRanges) {
  EXPECT_EQ(quotient_range({-5, 13}, 4), (Interval{-1, 3}));
  EXPECT_EQ(quotient_range({-5, 13}, -4), (Interval{-3, 1}));
  EXPECT_EQ(quotient_range({-8, 12}, 4), (Interval{-2, 3}));
  EXPECT_EQ(quotient_range({-kNone, 13}, -4), (Interval{-3, kNone}));
  EXPECT_EQ(quotient_range(Interval::everything(), 4), Interval::everything());
}

TEST(Interval, UnboundedEndsStayUnbounded) {
  const Interval all, below{-kNone, 3}, above{-2, kNone};
  EXPECT_EQ(all + Interval::point(5), all);
  EXPECT_EQ(all - Interval::point(5), all);
  EXPECT_EQ(all * Interval::point(3), all);
  EXPECT_EQ(all * Interval::point(0), Interval::point(0));
  EXPECT_EQ(below + Interval::point(1), (Interval{-kNone, 4}));
  EXPECT_EQ(above + Interval::point(1), (Interval{-1, kNone}));
  EXPECT_EQ(Interval::point(1) + below, (Interval{-kNone, 4}));
  EXPECT_EQ(Interval::point(1) - below, (Interval{-2, kNone}));
  EXPECT_EQ(above * Interval::point(-2), (Interval{-kNone, 4}));
  EXPECT_EQ(below + above, all);
}

// Results that do not fit int64 are unbounded.
TEST(Interval, OverflowIsUnbounded) {
  const Interval large{kNone - 1, kNone - 1};
  EXPECT_EQ(large + large, (Interval{kNone, kNone}));
  EXPECT_EQ(large * large, (Interval{kNone, kNone}));
  EXPECT_EQ((Interval{-5, 5}) * large, Interval::everything());
  EXPECT_EQ(Interval::point(-kNone + 1) + Interval::point(-2), (Interval{-kNone, -kNone}));
  EXPECT_EQ(Interval::point(kLargest) + Interval::point(kLargest), (Interval{kNone, kNone}));
  EXPECT_EQ(Interval::point(0) - Interval::point(-kLargest - 1), (Interval{kNone, kNone}));
}

class BoundsTest : public testing::Test {
 protected:
  Interval of(const Expr& e) { return bounds(e, ranges_); }
  Expr variable(int64_t min, int64_t max, Type type = kInt32) {
    const Expr var = make_var("v", type);
    ranges_.set(var, {min, max});
    return var;
  }
  Ranges ranges_;
};

TEST_F(BoundsTest, Variables) {
  const Expr i = variable(2, 7), u = make_var("u");
  EXPECT_EQ(of(i), (Interval{2, 7}));
  EXPECT_EQ(of(u), Interval::everything());
  ranges_.forget(i);
  EXPECT_EQ(of(i), Interval::everything());
  EXPECT_EQ(of(make_int(-4)), Interval::point(-4));
}

TEST_F(BoundsTest, Operations) {
  const Expr i = variable(-3, 8), j = variable(1, 5), u = make_var("u");
  const auto binary = [&](BinaryOp op, const Expr& a, const Expr& b) {
    return of(make_binary(op, a, b));
  };
  EXPECT_EQ(of(i + j), (Interval{-2, 13}));
  EXPECT_EQ(of(i - j), (Interval{-8, 7}));
  EXPECT_EQ(of(i * j), (Interval{-15, 40}));
  EXPECT_EQ(of(min(i, j)), (Interval{-3, 5}));
  EXPECT_EQ(of(max(i, j)), (Interval{1, 8}));
  EXPECT_EQ(of(min(u, j)), (Interval{-kNone, 5}));
  EXPECT_EQ(of(max(u, j)), (Interval{1, kNone}));
  EXPECT_EQ(of(floordiv(i, 4)), (Interval{-1, 2}));
  EXPECT_EQ(of(floormod(i, 4)), (Interval{0, 3}));
  EXPECT_EQ(of(floordiv(u, 4)), Interval::everything());
  EXPECT_EQ(of(floordiv(max(u, j), 2)), (Interval{0, kNone}));
  EXPECT_EQ(of(floordiv(min(u, j), 2)), (Interval{-kNone, 2}));
  EXPECT_EQ(of(floormod(u, 4)), (Interval{0, 3}));
  // If the operand stays between two multiples of the divisor, the remainder's interval is as long
  // as the operand's.
  EXPECT_EQ(of(floormod(variable(5, 7), 4)), (Interval{1, 3}));
  EXPECT_EQ(of(floormod(variable(-3, -2), 4)), (Interval{1, 2}));
  // Truncating division rounds toward zero; remainders have the sign of the dividend.
  EXPECT_EQ(binary(BinaryOp::Div, j, make_int(2)), (Interval{0, 2}));
  EXPECT_EQ(binary(BinaryOp::Mod, j, make_int(3)), (Interval{0, 2}));
  EXPECT_EQ(binary(BinaryOp::Mod, j, make_int(8)), (Interval{1, 5}));
  EXPECT_EQ(binary(BinaryOp::Div, variable(0, 5), make_int(2)), (Interval{0, 2}));
  EXPECT_EQ(binary(BinaryOp::Mod, variable(0, 5), make_int(2)), (Interval{0, 1}));
  EXPECT_EQ(binary(BinaryOp::Div, i, make_int(2)), (Interval{-1, 4}));
  EXPECT_EQ(binary(BinaryOp::Mod, i, make_int(2)), (Interval{-1, 1}));
  EXPECT_EQ(binary(BinaryOp::Mod, i, make_int(20)), (Interval{-3, 8}));
  EXPECT_EQ(binary(BinaryOp::Mod, variable(-7, -5), make_int(4)), (Interval{-3, -1}));
  EXPECT_EQ(binary(BinaryOp::Mod, variable(-9, -7), make_int(8)), (Interval{-7, 0}));
  EXPECT_EQ(binary(BinaryOp::Div, u, make_int(2)), Interval::everything());
  EXPECT_EQ(binary(BinaryOp::Mod, u, make_int(4)), (Interval{-3, 3}));
  // Divisions that round down have bounds if the divisor is positive, even if it is not constant.
  EXPECT_EQ(of(floordiv(j, variable(2, 3))), (Interval{0, 2}));
  EXPECT_EQ(of(floordiv(i, variable(2, 3))), (Interval{-3, 4}));
  EXPECT_EQ(of(floordiv(variable(-9, -7), variable(2, 3))), (Interval{-9, -1}));
  EXPECT_EQ(of(floormod(j, variable(2, 3))), (Interval{0, 2}));
  EXPECT_EQ(of(floormod(variable(0, 1), variable(2, 3))), (Interval{0, 1}));
  for (const BinaryOp op : {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Div, BinaryOp::Mod}) {
    EXPECT_EQ(binary(op, j, make_int(-2)), Interval::everything());
    EXPECT_EQ(binary(op, j, make_int(0)), Interval::everything());
    EXPECT_EQ(binary(op, j, variable(0, 2)), Interval::everything());
  }
  EXPECT_EQ(of(floordiv(i, variable(2, 2))), (Interval{-2, 4}));
  EXPECT_EQ(binary(BinaryOp::Shl, i, j), Interval::everything());
  EXPECT_EQ(binary(BinaryOp::BitXor, i, j), Interval::everything());
}

TEST_F(BoundsTest, Conditions) {
  const Expr i = variable(-3, 8), p = i < make_int(2);
  EXPECT_EQ(of(p), (Interval{0, 1}));
  EXPECT_EQ(of(p && p), (Interval{0, 1}));
  EXPECT_EQ(of(make_not(p)), (Interval{0, 1}));
  EXPECT_EQ(of(make_select(p, i, variable(4, 20))), (Interval{-3, 20}));
  EXPECT_EQ(of(make_select(p, variable(4, 20), i)), (Interval{-3, 20}));
}

TEST_F(BoundsTest, Vectors) {
  const Expr i = variable(0, 7), v = make_ramp(i, variable(-2, 3), 4);
  EXPECT_EQ(of(v), (Interval{-6, 16}));
  EXPECT_EQ(of(make_ramp(i, make_int(4), 4)), (Interval{0, 19}));
  EXPECT_EQ(of(make_broadcast(i, 4)), (Interval{0, 7}));
  EXPECT_EQ(of(make_lane(v, variable(0, 3))), (Interval{-6, 16}));
  EXPECT_EQ(of(make_pack({variable(3, 4), i, variable(-1, 2)})), (Interval{-1, 7}));
  EXPECT_EQ(of(make_pack({variable(3, 4), variable(5, 6)})), (Interval{3, 6}));
}

// A cast keeps the interval if it keeps every value.
TEST_F(BoundsTest, Casts) {
  const Expr i = variable(-3, 300), n = variable(0, 200), u = make_var("u");
  EXPECT_EQ(of(make_cast(kInt64, i)), (Interval{-3, 300}));
  EXPECT_EQ(of(make_cast(Type::u(32), i)), (Interval{0, 4294967295}));
  EXPECT_EQ(of(make_cast(Type::u(32), n)), (Interval{0, 200}));
  EXPECT_EQ(of(make_cast(Type::u(8), n)), (Interval{0, 200}));
  EXPECT_EQ(of(make_cast(Type::u(8), i)), (Interval{0, 255}));
  EXPECT_EQ(of(make_cast(Type::i(8), n)), (Interval{-128, 127}));
  EXPECT_EQ(of(make_cast(Type::i(16), i)), (Interval{-3, 300}));
  EXPECT_EQ(of(make_cast(Type::u(16), u)), (Interval{0, 65535}));
  EXPECT_EQ(of(make_cast(kInt32, make_var("l", kInt64))), kInts);
  EXPECT_EQ(of(make_cast(kInt64, make_var("l", kInt32))), Interval::everything());
  EXPECT_EQ(of(make_cast(kInt32, i < n)), (Interval{0, 1}));
  EXPECT_EQ(of(make_cast(kInt32, make_var("x", kFloat32))), kInts);
  EXPECT_EQ(of(make_cast(Type::i(8), make_var("x", kFloat32))), (Interval{-128, 127}));
}

// Only the type bounds a value loaded from memory.
TEST_F(BoundsTest, Memory) {
  const auto load = [](Type type) {
    return make_load(make_buffer("A", type, {4}, MemoryScope::Global), {make_int(0)});
  };
  EXPECT_EQ(of(load(Type::u(8))), (Interval{0, 255}));
  EXPECT_EQ(of(load(Type::i(8))), (Interval{-128, 127}));
  EXPECT_EQ(of(load(Type::i(16))), (Interval{-32768, 32767}));
  EXPECT_EQ(of(load(kBool)), (Interval{0, 1}));
  EXPECT_EQ(of(load(kInt32)), Interval::everything());
  EXPECT_EQ(of(load(Type::u(32))), Interval::everything());
  EXPECT_EQ(of(load(Type::f(16))), Interval::everything());
  EXPECT_EQ(of(make_float(1)), Interval::everything());
  EXPECT_EQ(of(make_cast(kInt32, load(Type::u(8)))), (Interval{0, 255}));
}

// Narrow types wrap: the sum of two uint8 values is a uint8.
TEST_F(BoundsTest, NarrowTypesWrap) {
  const Expr byte =
      make_load(make_buffer("A", Type::u(8), {4}, MemoryScope::Global), {make_int(0)});
  EXPECT_EQ(of(byte + 250), (Interval{0, 255}));
  EXPECT_EQ(of(byte - 1), (Interval{0, 255}));
  EXPECT_EQ(of(floordiv(byte, 2) + 100), (Interval{100, 227}));
}

// Bounded 32-bit values wrap too; an unbounded end does not count as overflow.
TEST_F(BoundsTest, Int32Wraps) {
  const Expr i = variable(0, 3), u = make_var("u"), n = variable(0, 3, Type::u(32));
  const Expr l = variable(0, 3, kInt64);
  const int64_t half = int64_t{1} << 30;
  EXPECT_EQ(of(i * half), kInts);
  EXPECT_EQ(of(i * -half), kInts);
  EXPECT_EQ(of(min(i, make_int(1)) * half), (Interval{0, half}));
  EXPECT_EQ(of(i - 2147483647 - 1), (Interval{-2147483648, -2147483645}));
  EXPECT_EQ(of(i - 2147483647 - 2), kInts);
  EXPECT_EQ(of(i + 2147483644), (Interval{2147483644, 2147483647}));
  EXPECT_EQ(of(i + 2147483645), kInts);
  EXPECT_EQ(of(n - 1), (Interval{0, 4294967295}));
  EXPECT_EQ(of(n + 4294967292), (Interval{4294967292, 4294967295}));
  EXPECT_EQ(of(n + 4294967293), (Interval{0, 4294967295}));
  EXPECT_EQ(of(l * half * 4), (Interval{0, 12 * half}));
  EXPECT_EQ(of(max(u, i) * 2), (Interval{0, kNone}));
  EXPECT_EQ(of(min(u, i) * 2), (Interval{-kNone, 6}));
  EXPECT_EQ(of(make_ramp(u, i, 4)), Interval::everything());
}

}  // namespace
}  // namespace texloom::ir::arith
