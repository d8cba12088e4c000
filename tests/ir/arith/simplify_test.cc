#include "ir/arith/simplify.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/arith/random_index.h"

namespace texloom::ir::arith {
namespace {

// Loop variables with extents, and variables with no known range.
class SimplifyTest : public testing::Test {
 protected:
  Expr loop(const char* name, int64_t extent) {
    const Expr var = make_var(name);
    ranges_.set(var, {0, extent - 1});
    return var;
  }
  std::string simple(const Expr& e) { return to_string(simplify(e, ranges_)); }

  Ranges ranges_;
  Expr x = make_var("x"), y = make_var("y"), z = make_var("z");
  Expr i4 = loop("i4", 4), j4 = loop("j4", 4), i8 = loop("i8", 8), i16 = loop("i16", 16);
};

TEST_F(SimplifyTest, Sums) {
  EXPECT_EQ(simple(x + x), "x * 2");
  EXPECT_EQ(simple(x + y - x), "y");
  EXPECT_EQ(simple(x - y), "x - y");
  EXPECT_EQ(simple(y * 0 - x), "x * -1");
  EXPECT_EQ(simple(make_int(0) - x + y), "y - x");
  EXPECT_EQ(simple(x - (x + 3)), "-3");
  EXPECT_EQ(simple((x + 3) + (y + 4)), "x + y + 7");
  EXPECT_EQ(simple((x - 3) + y), "x + y - 3");
  EXPECT_EQ(simple((x + 1) * 4 - 4), "x * 4");
  EXPECT_EQ(simple(make_int(3) * (x - y)), "x * 3 - y * 3");
  EXPECT_EQ(simple(x - y * 2), "x - y * 2");
  EXPECT_EQ(simple((x + y) * (x + y)), "(x + y) * (x + y)");
  EXPECT_EQ(simple((x + x) * (y + 0)), "x * 2 * y");
  EXPECT_EQ(simple(x - x), "0");
  EXPECT_EQ(simple((x + 5) * 0), "0");
}

TEST_F(SimplifyTest, VariablesOfOneValue) {
  const Expr one = loop("one", 1);
  EXPECT_EQ(simple(one), "0");
  EXPECT_EQ(simple(x + one * 5), "x");
  ranges_.set(one, Interval::point(3));
  EXPECT_EQ(simple(x + one * 5), "x + 15");
}

// (c*Q + R) // c = Q + R // c, and (c*Q + R) % c = R % c.
TEST_F(SimplifyTest, MultiplesOfADivisor) {
  EXPECT_EQ(simple(floordiv(x * 4, 4)), "x");
  EXPECT_EQ(simple(floordiv(x * 4 + y, 4)), "x + floordiv(y, 4)");
  EXPECT_EQ(simple(floordiv(x * 8 + i4, 4)), "x * 2");
  EXPECT_EQ(simple(floordiv(x + 9, 4)), "floordiv(x + 1, 4) + 2");
  EXPECT_EQ(simple(floordiv(x - 1, 4)), "floordiv(x + 3, 4) - 1");
  EXPECT_EQ(simple(floormod(x * 4, 4)), "0");
  EXPECT_EQ(simple(floormod(x * 8 + y, 4)), "floormod(y, 4)");
  EXPECT_EQ(simple(floormod(x + 9, 4)), "floormod(x + 1, 4)");
  EXPECT_EQ(simple(floordiv(x, 1)), "x");
  EXPECT_EQ(simple(floormod(x, 1)), "0");
}

// R // c and R % c if R is between two multiples of c.
TEST_F(SimplifyTest, Intervals) {
  EXPECT_EQ(simple(floordiv(i4, 4)), "0");
  EXPECT_EQ(simple(floormod(i4, 4)), "i4");
  EXPECT_EQ(simple(floordiv(i8, 4)), "floordiv(i8, 4)");
  EXPECT_EQ(simple(floormod(i8, 4)), "floormod(i8, 4)");
  EXPECT_EQ(simple(floordiv(i4 - 4, 4)), "-1");
  EXPECT_EQ(simple(floormod(i4 - 4, 4)), "i4");
  EXPECT_EQ(simple(floordiv(i4 * 4 + j4, 16)), "0");
  EXPECT_EQ(simple(floormod(i4 * 4 + j4, 16)), "i4 * 4 + j4");
  const Expr high = make_var("high");
  ranges_.set(high, {5, 7});
  EXPECT_EQ(simple(floordiv(high, 4)), "1");
  EXPECT_EQ(simple(floormod(high, 4)), "high - 4");
  EXPECT_EQ(simple(floordiv(high, 2)), "floordiv(high, 2)");
}

// (g*X + S) // (g*c) = X // c, and (g*X + S) % (g*c) = g * (X % c) + S.
TEST_F(SimplifyTest, CommonFactors) {
  EXPECT_EQ(simple(floordiv(x * 4 + i4, 16)), "floordiv(x, 4)");
  EXPECT_EQ(simple(floormod(x * 4 + i4, 16)), "floormod(x, 4) * 4 + i4");
  EXPECT_EQ(simple(floordiv(x * 4 + i8, 16)), "floordiv(x * 4 + i8, 16)");
  EXPECT_EQ(simple(floordiv(x * 6 + y * 3, 9)), "floordiv(x * 2 + y, 3)");
  EXPECT_EQ(simple(floormod(x * 6 + y * 3, 9)), "floormod(x * 2 + y, 3) * 3");
  EXPECT_EQ(simple(floordiv(x * 4 + y * 2 + 1, 8)), "floordiv(x * 2 + y, 4)");
  EXPECT_EQ(simple(floordiv(x * 16 + y * 4 + i4, 64)), "floordiv(x * 4 + y, 16)");
}

// (x // a) // b = x // (a*b).
TEST_F(SimplifyTest, NestedQuotients) {
  EXPECT_EQ(simple(floordiv(floordiv(x, 3), 5)), "floordiv(x, 15)");
  EXPECT_EQ(simple(floordiv(floordiv(x + 2, 3) + 5, 5)), "floordiv(x + 2, 15) + 1");
  EXPECT_EQ(simple(floordiv(floordiv(x, 3) + y, 5)), "floordiv(floordiv(x, 3) + y, 5)");
  EXPECT_EQ(simple(floordiv(floordiv(x, -3), 5)), "floordiv(floordiv(x, -3), 5)");
}

// (x % (a*c)) % c = x % c, and with a factor.
TEST_F(SimplifyTest, NestedRemainders) {
  EXPECT_EQ(simple(floormod(floormod(x, 12), 4)), "floormod(x, 4)");
  EXPECT_EQ(simple(floormod(floormod(x, 10), 4)), "floormod(floormod(x, 10), 4)");
  EXPECT_EQ(simple(floormod(floormod(x, 6) * 2, 4)), "floormod(x, 2) * 2");
  EXPECT_EQ(simple(floormod(floormod(x, 12) + y, 4)), "floormod(x + y, 4)");
}

// a*(x // a) + x % a = x, in any order and with a factor.
TEST_F(SimplifyTest, DivisionAndRemainderJoin) {
  EXPECT_EQ(simple(floordiv(x, 7) * 7 + floormod(x, 7)), "x");
  EXPECT_EQ(simple(floormod(x, 7) + floordiv(x, 7) * 7), "x");
  EXPECT_EQ(simple(floordiv(x, 7) * 21 + floormod(x, 7) * 3), "x * 3");
  EXPECT_EQ(simple(y + floordiv(x, 7) * 7 + z + floormod(x, 7) + 5), "y + z + x + 5");
  EXPECT_EQ(simple(floordiv(x + y, 7) * 7 + floormod(x + y, 7)), "x + y");
  EXPECT_EQ(simple(floordiv(x, 7) * 7 + floormod(y, 7)), "floordiv(x, 7) * 7 + floormod(y, 7)");
  EXPECT_EQ(simple(floordiv(x, 7) * 6 + floormod(x, 7)), "floordiv(x, 7) * 6 + floormod(x, 7)");
}

// a*(x // a) + x % a = x for a positive variable `a`; the quotient may be one term of a factor.
TEST_F(SimplifyTest, DivisionAndRemainderByAVariableJoin) {
  const Expr n = make_var("n"), m = make_var("m");
  ranges_.set(n, {1, 1 << 30});
  ranges_.set(m, {1, 1 << 30});
  EXPECT_EQ(simple(floordiv(x, n) * n + floormod(x, n)), "x");
  EXPECT_EQ(simple((z + floordiv(x, n)) * n + floormod(x, n)), "z * n + x");
  EXPECT_EQ(simple((floordiv(x + 1, n) * n + floormod(x + 1, n)) * 3), "x * 3 + 3");
  const Expr rows = floordiv(x, n);
  EXPECT_EQ(simple(((y * m + floordiv(rows, m)) * m + floormod(rows, m)) * n + floormod(x, n)),
            "y * m * m * n + x");
  EXPECT_EQ(simple(floordiv(x, n) * m + floormod(x, n)), "floordiv(x, n) * m + floormod(x, n)");
  EXPECT_EQ(simple(floordiv(x, y) * y + floormod(x, y)), "floordiv(x, y) * y + floormod(x, y)");
}

// a*((x // a) % b) + x % a = x % (a*b).
TEST_F(SimplifyTest, RemaindersJoin) {
  EXPECT_EQ(simple(floormod(floordiv(x, 3), 5) * 3 + floormod(x, 3)), "floormod(x, 15)");
  EXPECT_EQ(simple(floordiv(x, 15) * 15 + floormod(floordiv(x, 3), 5) * 3 + floormod(x, 3)), "x");
  EXPECT_EQ(simple(floormod(floordiv(y, 3), 5) * 3 + floormod(x, 3)),
            "floormod(floordiv(y, 3), 5) * 3 + floormod(x, 3)");
}

// Three axes are fused, split differently and recombined.
TEST_F(SimplifyTest, FusedAxes) {
  const Expr f = loop("f", 56 * 56 * 8);
  const Expr h = floordiv(f, 56 * 8), w = floormod(floordiv(f, 8), 56), c = floormod(f, 8);
  EXPECT_EQ(simple((h * 56 + w) * 8 + c), "f");
  EXPECT_EQ(simple(h), "floordiv(f, 448)");
  EXPECT_EQ(simple(floordiv((h * 56 + w) * 8 + c, 4)), "floordiv(f, 4)");
  const Expr outer = loop("o", 14), inner = loop("n", 4);
  EXPECT_EQ(simple(floordiv(outer * 4 + inner, 4)), "o");
  EXPECT_EQ(simple(floormod(outer * 4 + inner, 4)), "n");
}

// A division by a divisor that is not positive stays for the device and does not crash here.
TEST_F(SimplifyTest, DivisorsThatAreNotPositive) {
  for (const int64_t c : {0, -1, -3}) {
    for (const auto& divide : {+[](Expr a, int64_t b) { return floordiv(std::move(a), b); },
                               +[](Expr a, int64_t b) { return floormod(std::move(a), b); }}) {
      EXPECT_EQ(simple(divide(x + x, c)), to_string(divide(x * 2, c)));
    }
  }
  EXPECT_EQ(simple(floormod(floordiv(x, 2), 0) * 2 + floormod(x, 2)),
            "floormod(floordiv(x, 2), 0) * 2 + floormod(x, 2)");
  EXPECT_EQ(simple(floormod(floordiv(x, 2), -3) * 2 + floormod(x, 2)),
            "floormod(floordiv(x, 2), -3) * 2 + floormod(x, 2)");
  EXPECT_EQ(simple(floordiv(x, y)), "floordiv(x, y)");
  EXPECT_EQ(simple(floormod(x, y + y)), "floormod(x, y * 2)");
}

TEST_F(SimplifyTest, TruncatingDivision) {
  const auto div = [](const Expr& a, const Expr& b) { return make_binary(BinaryOp::Div, a, b); };
  const auto mod = [](const Expr& a, const Expr& b) { return make_binary(BinaryOp::Mod, a, b); };
  EXPECT_EQ(simple(div(i8 * 4 + i4, make_int(4))), "i8");
  EXPECT_EQ(simple(mod(i8 * 4 + i4, make_int(4))), "i4");
  EXPECT_EQ(simple(div(x * 4 + i4, make_int(4))), "(x * 4 + i4) / 4");
  EXPECT_EQ(simple(mod(x * 4 + i4, make_int(4))), "truncmod(x * 4 + i4, 4)");
  EXPECT_EQ(simple(div(i8 * 4, make_int(-4))), "i8 * 4 / -4");
  EXPECT_EQ(simple(div(i8 * 4, y + y)), "i8 * 4 / (y * 2)");
}

TEST_F(SimplifyTest, Extrema) {
  EXPECT_EQ(simple(min(x + 1, x)), "x");
  EXPECT_EQ(simple(max(x + 1, x)), "x + 1");
  EXPECT_EQ(simple(min(x, x + 1)), "x");
  EXPECT_EQ(simple(max(x, x + 1)), "x + 1");
  EXPECT_EQ(simple(min(i4, make_int(3))), "i4");
  EXPECT_EQ(simple(min(i4, make_int(2))), "min(i4, 2)");
  EXPECT_EQ(simple(max(i4, make_int(0))), "i4");
  EXPECT_EQ(simple(max(i4, make_int(3))), "3");
  EXPECT_EQ(simple(max(make_int(3), i4)), "3");
  EXPECT_EQ(simple(min(x, y)), "min(x, y)");
  EXPECT_EQ(simple(min(x, x)), "x");
  EXPECT_EQ(simple(min(x * 2 + 56, x + x + 4)), "x * 2 + 4");
}

TEST_F(SimplifyTest, Comparisons) {
  const auto compare = [&](BinaryOp op, const Expr& a, int64_t b) {
    return simple(make_binary(op, a, make_int(b)));
  };
  using Op = BinaryOp;
  const struct {
    Op op;
    // Right operands that make the comparison true, false and undecided, since i4 is in 0..3.
    int64_t yes, no, open;
  } rows[] = {{Op::Lt, 4, 0, 3}, {Op::Le, 3, -1, 2}, {Op::Gt, -1, 3, 0}, {Op::Ge, 0, 4, 1}};
  for (const auto& row : rows) {
    EXPECT_EQ(compare(row.op, i4, row.yes), "true") << spelling(row.op);
    EXPECT_EQ(compare(row.op, i4, row.no), "false") << spelling(row.op);
    EXPECT_EQ(compare(row.op, i4, row.open),
              "i4 " + std::string(spelling(row.op)) + " " + std::to_string(row.open));
  }
  EXPECT_EQ(compare(Op::Eq, i4, 4), "false");
  EXPECT_EQ(compare(Op::Eq, i4, -1), "false");
  EXPECT_EQ(compare(Op::Eq, i4, 3), "i4 == 3");
  EXPECT_EQ(compare(Op::Eq, i4, 0), "i4 == 0");
  EXPECT_EQ(compare(Op::Ne, i4, 4), "true");
  EXPECT_EQ(compare(Op::Ne, i4, -1), "true");
  EXPECT_EQ(compare(Op::Ne, i4, 0), "i4 != 0");
  EXPECT_EQ(simple(make_binary(Op::Eq, x + 1, x + 1)), "true");
  EXPECT_EQ(simple(make_binary(Op::Ne, x + 1, x + 1)), "false");
  EXPECT_EQ(simple(make_binary(Op::Eq, x + 1, x)), "false");
  EXPECT_EQ(simple(x < y), "x < y");
  EXPECT_EQ(simple(i8 < i4 + 8), "true");
  EXPECT_EQ(simple(x + x < y + 0), "x * 2 < y");
}

// g*X + k < 0 becomes X < ceil(-k / g), and so on.
TEST_F(SimplifyTest, ComparisonsLoseCommonFactors) {
  EXPECT_EQ(simple(x * 4 < make_int(10)), "x < 3");
  EXPECT_EQ(simple(x * 4 < make_int(12)), "x < 3");
  EXPECT_EQ(simple(x * 4 <= make_int(10)), "x <= 2");
  EXPECT_EQ(simple(x * 4 >= make_int(10)), "x >= 3");
  EXPECT_EQ(simple(make_binary(BinaryOp::Gt, x * 4, make_int(10))), "x > 2");
  EXPECT_EQ(simple(x * 4 + y * 6 < make_int(9)), "x * 2 + y * 3 < 5");
  EXPECT_EQ(simple(make_int(10) < x * 4), "x > 2");
  EXPECT_EQ(simple(make_int(10) <= x * 4), "x >= 3");
  EXPECT_EQ(simple(make_int(10) >= x * 4), "x <= 2");
  EXPECT_EQ(simple(make_binary(BinaryOp::Gt, make_int(10), x * 4)), "x < 3");
  EXPECT_EQ(simple(x * 4 < y * 4), "x < y");
  EXPECT_EQ(simple(x < make_int(10)), "x < 10");
  EXPECT_EQ(simple(make_binary(BinaryOp::Eq, x * 4, make_int(10))), "false");
  EXPECT_EQ(simple(make_binary(BinaryOp::Eq, x * 4, make_int(12))), "x == 3");
}

TEST_F(SimplifyTest, GoesIntoEverything) {
  const Expr p = make_var("p", kBool), f = make_var("f", kFloat32);
  const Buffer a = make_buffer("A", kFloat32, {64}, MemoryScope::Global);
  EXPECT_EQ(simple(make_select(i4 < make_int(4), x + x, y)), "x * 2");
  EXPECT_EQ(simple(make_select(p, x + x, y)), "select(p, x * 2, y)");
  EXPECT_EQ(simple(p && (i4 < make_int(4))), "p");
  EXPECT_EQ(simple(make_not(i4 < make_int(4))), "false");
  EXPECT_EQ(simple(make_cast(kFloat32, x + x)), "float32(x * 2)");
  EXPECT_EQ(simple(make_load(a, {floordiv(x * 4 + i4, 4)})), "A[x]");
  EXPECT_EQ(simple(make_ramp(x + x, make_int(1), 4)), "ramp(x * 2, 1, 4)");
  EXPECT_EQ(simple(f + f), "f + f");
  EXPECT_EQ(simple(make_load(a, {x + x}) + f), "A[x * 2] + f");
  EXPECT_EQ(simple(make_binary(BinaryOp::Shl, x + x, y)), "x * 2 << y");
}

TEST_F(SimplifyTest, KeepsTypes) {
  const Expr l = make_var("l", kInt64), b = make_var("b", Type::u(8));
  EXPECT_EQ(simple(l + l), "l * int64(2)");
  EXPECT_EQ(simple(l - l), "int64(0)");
  EXPECT_EQ(simplify(l + l, ranges_)->type, kInt64);
  // Narrow types wrap, so their sums are not rearranged.
  EXPECT_EQ(simple(b + b), "b + b");
  const Expr v = make_ramp(x, make_int(1), 4);
  EXPECT_EQ(simple(v + v), "ramp(x, 1, 4) + ramp(x, 1, 4)");
}

// Bounds also decide comparisons of vectors and of unsigned types.
TEST_F(SimplifyTest, ComparisonsOfOtherTypes) {
  const auto spread = [](int64_t value) { return make_broadcast(make_int(value), 4); };
  const Expr ramp = make_ramp(i4 * 4, make_int(1), 4);
  EXPECT_EQ(simple(ramp < spread(16)), "x4(true)");
  EXPECT_EQ(simple(ramp < spread(15)), "ramp(i4 * 4, 1, 4) < x4(15)");
  const Expr byte = make_load(make_buffer("B", Type::u(8), {4}, MemoryScope::Global), {x});
  EXPECT_EQ(simple(make_cast(kInt32, byte) < make_int(256)), "int32(B[x]) < 256");
  EXPECT_EQ(simple(floordiv(byte, 2) < make_int(200, Type::u(8))), "true");
  EXPECT_EQ(simple(byte + 1 < byte), "B[x] + uint8(1) < B[x]");
}

// Coefficients and constants at the limits of int64 do not crash.
TEST_F(SimplifyTest, LeastInteger) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Expr l = make_var("l", kInt64), k = make_var("k", kInt64);
  const auto zero = make_int(0, kInt64);
  for (const Expr& sum : {l * kLeast, l * kLeast - k, l * kLeast + k * kLeast + kLeast,
                          floordiv(l, 7) * kLeast - floormod(l, 7), l + kLeast, l * -1 + kLeast}) {
    for (const auto op : {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Eq}) {
      Ranges ranges;
      ranges.assume(make_binary(op, sum, zero));
      EXPECT_EQ(simplify(make_binary(op, sum, zero), ranges)->type, kBool);
      EXPECT_EQ(simplify(min(floordiv(sum, 6), floormod(sum, kLeast)), ranges)->type, kInt64);
      EXPECT_EQ(simplify(make_binary(BinaryOp::Div, sum, make_int(-1, kInt64)), ranges)->type,
                kInt64);
    }
  }
}

// A loaded value may be anything, so its products may overflow.
TEST_F(SimplifyTest, ValuesOfMemoryMayOverflow) {
  const Buffer a = make_buffer("A", kInt32, {64}, MemoryScope::Global);
  const Expr m = make_load(a, {x});
  EXPECT_EQ(simple(floordiv(m * 4, 4)), "floordiv(A[x] * 4, 4)");
  EXPECT_EQ(simple(floormod(m * 4, 4)), "floormod(A[x] * 4, 4)");
  EXPECT_EQ(simple(m < m + 1), "A[x] < A[x] + 1");
  EXPECT_EQ(simple(min(m, m + 1)), "min(A[x], A[x] + 1)");
  EXPECT_EQ(simple(m * 4 < make_int(10)), "A[x] * 4 < 10");
  EXPECT_EQ(simple(make_int(0) < max(m, make_int(0)) + 1), "0 < max(A[x], 0) + 1");
  EXPECT_EQ(simple(m + m - m), "A[x]");
  const Expr c = make_cast(kInt32, make_var("f", kFloat32));
  EXPECT_EQ(simple(floordiv(c * 4, 4)), "floordiv(int32(f) * 4, 4)");
}

// A rule is not applied if its result may overflow the type where its pattern does not.
TEST_F(SimplifyTest, NoOverflowIsIntroduced) {
  const Expr i = loop("i", 3'000'000), most = loop("most", std::numeric_limits<int32_t>::max());
  const auto unchanged = [&](const Expr& e) { EXPECT_EQ(simple(e), to_string(e)); };
  unchanged(floormod(floormod(i, 3) * 1000 + floormod(i, 1500), 3000));
  unchanged(floormod(floormod(i, 3) * 1000 + x, 3000));
  unchanged(floormod(floormod(x, 3) * 1000 + y, 3000));
  unchanged(floordiv(floordiv(most, 4) + 1, 2));
  // The whole sum fits int32, but the sum without x * 2 does not.
  ranges_.set(x, {-1'000'000'000, -500'000'000});
  unchanged(floordiv(x * 2 + most + i, 2));
  ranges_.set(x, {std::numeric_limits<int32_t>::min(), -1});
  for (const BinaryOp op : {BinaryOp::Div, BinaryOp::Mod}) {
    unchanged(make_binary(op, x, make_int(3)));
    unchanged(make_binary(op, make_broadcast(x, 2), make_broadcast(make_int(3), 2)));
  }
  const Expr small = loop("small", 2'000'000), j = loop("j", 3000);
  EXPECT_EQ(simple(floormod(floormod(small, 3) * 1000 + j, 3000)),
            "floormod(small * 1000 + j, 3000)");
}

// Narrow types wrap: the least value cannot be negated.
TEST_F(SimplifyTest, TruncatingDivisionOfTheLeastValue) {
  for (const Type type : {Type::i(8), Type::i(16)}) {
    const Expr m = make_load(make_buffer("A", type, {8}, MemoryScope::Global), {i4});
    const Expr zero = make_int(0, type), three = make_int(3, type);
    for (const BinaryOp op : {BinaryOp::Div, BinaryOp::Mod}) {
      const Expr least = make_binary(op, min(m, zero), three);
      EXPECT_EQ(simple(least), to_string(least));
    }
    const Expr above = make_binary(BinaryOp::Div, max(min(m, zero), make_int(-9, type)), three);
    EXPECT_NE(simple(above), to_string(above));
  }
}

// The coefficient -2^63 cannot be negated.
TEST_F(SimplifyTest, LeastCoefficient) {
  const Expr w = make_var("w", kInt64), v = make_var("v", kInt64);
  const Expr least = make_int(std::numeric_limits<int64_t>::min(), kInt64);
  for (const Expr& e : {w * least, v + w * least, w + least, w * least < v, w + least < v}) {
    const Expr once = simplify(e, ranges_);
    EXPECT_EQ(to_string(simplify(once, ranges_)), to_string(once));
  }
  EXPECT_EQ(simple(w * least < make_int(0, kInt64)), to_string(w * least < make_int(0, kInt64)));
}

// Arithmetic on a variable may overflow if the variable holds a loaded value, directly or not.
TEST_F(SimplifyTest, VariablesMayHoldValuesOfMemory) {
  const Expr m = make_load(make_buffer("A", kInt32, {8}, MemoryScope::Global), {i4});
  const Expr v = make_var("v"), w = make_var("w");
  ranges_.enter(*as<Let>(make_let(v, m, make_empty())));
  ranges_.enter(*as<Let>(make_let(w, v + i4, make_empty())));
  for (const Expr& e : {v, w}) {
    EXPECT_EQ(simple(e < e + 1), to_string(e < e + 1));
    EXPECT_EQ(simple(floordiv(e * 4, 4)), to_string(floordiv(e * 4, 4)));
  }
  EXPECT_EQ(simple(x < x + 1), "true");
}

TEST_F(SimplifyTest, Proofs) {
  EXPECT_TRUE(prove(i4 < make_int(4), ranges_));
  EXPECT_FALSE(prove(i4 < make_int(3), ranges_));
  EXPECT_FALSE(prove(x < y, ranges_));
  EXPECT_TRUE(prove(i4 * 4 + j4 < make_int(16), ranges_));
  EXPECT_TRUE(prove((x < x + 1) && (i4 >= make_int(0)), ranges_));
  EXPECT_FALSE(prove(make_int(4) < i4, ranges_));
}

TEST_F(SimplifyTest, ConstantDifferences) {
  EXPECT_EQ(constant_difference(x + 5, x, ranges_), 5);
  EXPECT_EQ(constant_difference(x, x + 5, ranges_), -5);
  EXPECT_EQ(constant_difference(x, y, ranges_), std::nullopt);
  EXPECT_EQ(constant_difference(floordiv(x * 4 + i4, 4), x - 2, ranges_), 2);
  EXPECT_EQ(constant_difference(make_int(3), make_int(1), ranges_), 2);
}

// 60 nodes form 2^60 paths, but each node is simplified once.
TEST_F(SimplifyTest, SharedPartsOnce) {
  Expr sum = make_var("l", kInt64);
  for (int n = 0; n < 60; ++n) sum = sum + sum;
  EXPECT_EQ(simple(sum), "l * int64(1152921504606846976)");
}

}  // namespace
}  // namespace texloom::ir::arith
