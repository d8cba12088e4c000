// Tests what loops, Lets and guards say about the statements inside them.
#include "ir/arith/ranges.h"

#include <gtest/gtest.h>

#include "ir/arith/simplify.h"
#include "ir/program.h"

namespace texloom::ir::arith {

// Printed when a comparison fails.
inline void PrintTo(const Interval& i, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << i.min << ".." << i.max;
}

namespace {

class RangesTest : public testing::Test {
 protected:
  Interval of(const Expr& e) { return bounds(e, ranges_); }
  Expr loop(const char* name, const Expr& extent) {
    const Stmt s = make_for(make_var(name), extent, LoopKind::Serial, make_empty());
    ranges_.enter(*as<For>(s));
    return as<For>(s)->var;
  }
  Expr let(const Expr& value) {
    const Stmt s = make_let(make_var("v", value->type), value, make_empty());
    ranges_.enter(*as<Let>(s));
    return as<Let>(s)->var;
  }
  static Expr compare(BinaryOp op, const Expr& a, int64_t b) {
    return make_binary(op, a, make_int(b));
  }

  Ranges ranges_;
  Expr x = make_var("x"), y = make_var("y"), p = make_var("p", kBool);
};

TEST_F(RangesTest, Loops) {
  const Expr i = loop("i", make_int(8));
  EXPECT_EQ(of(i), (Interval{0, 7}));
  EXPECT_EQ(of(loop("j", i + 1)), (Interval{0, 7}));
  EXPECT_EQ(of(loop("k", x)), (Interval{0, Interval::kNone}));
  EXPECT_FALSE(of(loop("k", x)).has_max());
}

// The range of a variable of several loops is the union of the loops' ranges.
TEST_F(RangesTest, SeveralLoops) {
  for (const int64_t extent : {4, 8, 2}) {
    const Stmt s = make_for(x, make_int(extent), LoopKind::Serial, make_empty());
    ranges_.enter_also(*as<For>(s));
  }
  EXPECT_EQ(of(x), (Interval{0, 7}));
  ranges_.enter_also(*as<For>(make_for(x, y, LoopKind::Serial, make_empty())));
  EXPECT_EQ(of(x), (Interval{0, Interval::kNone}));
}

TEST_F(RangesTest, Lets) {
  const Expr i = loop("i", make_int(8)), v = let(i * 4 + 2);
  EXPECT_EQ(of(v), (Interval{2, 30}));
  EXPECT_EQ(modular(v, ranges_), Modular::of(4, 2));
  const Expr m = make_load(make_buffer("A", kInt32, {8}, MemoryScope::Global), {x});
  EXPECT_EQ(modular(let(m * 3), ranges_), Modular::everything());
  EXPECT_EQ(of(let(max(m, make_int(0)) + 1)), Interval::everything());  // it may wrap
  EXPECT_EQ(of(let(make_var("f", kFloat32))), Interval::everything());
}

TEST_F(RangesTest, ConditionsOnOneVariable) {
  using Op = BinaryOp;
  const auto under = [&](const Expr& condition, bool holds = true) {
    ranges_.set(x, Interval{0, 99});
    ranges_.assume(condition, holds);
    return of(x);
  };
  EXPECT_EQ(under(x < make_int(10)), (Interval{0, 9}));
  EXPECT_EQ(under(x <= make_int(10)), (Interval{0, 10}));
  EXPECT_EQ(under(compare(Op::Gt, x, 10)), (Interval{11, 99}));
  EXPECT_EQ(under(x >= make_int(10)), (Interval{10, 99}));
  EXPECT_EQ(under(compare(Op::Eq, x, 10)), (Interval{10, 10}));
  EXPECT_EQ(under(compare(Op::Ne, x, 10)), (Interval{0, 99}));
  EXPECT_EQ(under(x < make_int(10), false), (Interval{10, 99}));
  EXPECT_EQ(under(x <= make_int(10), false), (Interval{11, 99}));
  EXPECT_EQ(under(compare(Op::Gt, x, 10), false), (Interval{0, 10}));
  EXPECT_EQ(under(x >= make_int(10), false), (Interval{0, 9}));
  EXPECT_EQ(under(compare(Op::Ne, x, 10), false), (Interval{10, 10}));
  EXPECT_EQ(under(make_not(x >= make_int(10))), (Interval{0, 9}));
  EXPECT_EQ(under(x * 3 + 2 < make_int(31)), (Interval{0, 9}));
  EXPECT_EQ(under(make_int(31) - x * 3 >= make_int(2)), (Interval{0, 9}));
  EXPECT_EQ(under(compare(Op::Gt, x * 3, 29)), (Interval{10, 99}));
}

// If `a && b` is true, both hold; if `a || b` is false, neither does; otherwise nothing is known.
TEST_F(RangesTest, Junctions) {
  const Expr low = x >= make_int(3), high = x < make_int(7);
  const auto either = [](const Expr& a, const Expr& b) { return make_binary(BinaryOp::Or, a, b); };
  const auto under = [&](const Expr& condition, bool holds) {
    ranges_.forget(x);
    ranges_.assume(condition, holds);
    return of(x);
  };
  EXPECT_EQ(under(low && p && high, true), (Interval{3, 6}));
  EXPECT_EQ(under(low && high, false), Interval::everything());
  EXPECT_EQ(under(either(low, high), true), Interval::everything());
  EXPECT_EQ(under(either(high, x >= make_int(20)), false), (Interval{7, 19}));
}

// A guard on a sum also bounds multiples of the sum, and the sum plus a constant.
TEST_F(RangesTest, Sums) {
  ranges_.assume(x * 8 + y * 2 < make_int(100));
  const auto proved = [&](const Expr& condition) { return prove(condition, ranges_); };
  EXPECT_TRUE(proved(x * 8 + y * 2 < make_int(100)));
  EXPECT_TRUE(proved(x * 4 + y < make_int(50)));
  EXPECT_TRUE(proved(x * 4 + y + 3 < make_int(53)));
  EXPECT_TRUE(proved(make_int(-50) < x * -4 - y));
  const Expr i = loop("i", make_int(4));
  EXPECT_TRUE(proved(x * 4 + i + y < make_int(53)));
  EXPECT_FALSE(proved(x * 4 + i + y < make_int(52)));
  EXPECT_FALSE(proved(x * 4 + y < make_int(49)));
  EXPECT_FALSE(proved(x * 4 + y * 2 < make_int(100)));
  EXPECT_FALSE(proved(x * 4 < make_int(50)));
  ranges_.assume(floordiv(x, 3) < make_int(5));
  EXPECT_TRUE(proved(floordiv(x, 3) * 2 < make_int(9)));
}

// A value loaded from memory may change between reads, or wrap.
TEST_F(RangesTest, MemoryIsNotAssumed) {
  const Expr m = make_load(make_buffer("A", kInt32, {8}, MemoryScope::Global), {x});
  ranges_.assume(m + x < make_int(5));
  EXPECT_FALSE(ranges_.knows_sums());
  ranges_.assume(make_var("f", kFloat32) < make_float(1));
  EXPECT_FALSE(ranges_.knows_sums());
}

TEST_F(RangesTest, Equality) {
  const Expr i = loop("i", make_int(4));
  EXPECT_TRUE(prove_equal(floordiv(x * 4 + i, 4), x, ranges_));
  EXPECT_FALSE(prove_equal(floordiv(x * 4 + i, 4), x + 1, ranges_));
  EXPECT_FALSE(prove_equal(x, y, ranges_));
  ranges_.assume(compare(BinaryOp::Eq, y, 3));
  EXPECT_TRUE(prove_equal(y + 1, make_int(4), ranges_));
}

}  // namespace
}  // namespace texloom::ir::arith
