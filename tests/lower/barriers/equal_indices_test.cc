// Tests finding variables that must be equal if two accesses have the same indices.
#include "lower/barriers/equal_indices.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/program.h"

namespace texloom::lower {
namespace {

using namespace ir;

class EqualIndicesTest : public ::testing::Test {
 protected:
  Expr loop(const char* name, int64_t extent) {
    const Expr var = make_var(name);
    ranges.set(var, {0, extent - 1});
    variables.insert(var.get());
    return var;
  }
  bool agree(const Exprs& a, const Exprs& b, const Expr& var) const {
    return EqualIndices(a, b, variables, ranges).holds(var);
  }

  arith::Ranges ranges;
  EqualIndices::Variables variables;
};

TEST_F(EqualIndicesTest, DigitsOfAnIndex) {
  const Expr bx = loop("bx", 8), tx = loop("tx", 64), i = loop("i", 4);
  const Expr index = bx * 256 + tx * 4 + i;
  EXPECT_TRUE(agree({index}, {index}, bx));
  EXPECT_TRUE(agree({index}, {index}, tx));
}

// The next element may belong to the next thread, or to the next block.
TEST_F(EqualIndicesTest, Neighbors) {
  const Expr bx = loop("bx", 8), tx = loop("tx", 64);
  const Expr index = bx * 64 + tx;
  EXPECT_FALSE(agree({index}, {index + 1}, tx));
  EXPECT_FALSE(agree({index}, {index + 1}, bx));
}

TEST_F(EqualIndicesTest, IndicesThatNeverMeet) {
  const Expr tx = loop("tx", 8), row = make_var("row");
  const auto never = [&](const Exprs& a, const Exprs& b) {
    return EqualIndices(a, b, variables, ranges).never();
  };
  EXPECT_TRUE(never({tx}, {tx + 8}));
  EXPECT_FALSE(never({tx}, {tx + 7}));
  EXPECT_TRUE(never({row, tx}, {row + 1, tx}));  // both have the same row
  EXPECT_FALSE(never({tx}, {tx}));
}

// The terms with large factors sum to a multiple of their common divisor. The other terms are too
// small to make up for the difference between two multiples.
TEST_F(EqualIndicesTest, IndicesBetweenMultiples) {
  const Expr tx = loop("tx", 64), ty = loop("ty", 8);
  const auto never = [&](const Expr& a, const Expr& b) {
    return EqualIndices({a}, {b}, variables, ranges).never();
  };
  EXPECT_TRUE(never(tx * 2, tx * 2 + 1));
  EXPECT_TRUE(never(tx * 6 + ty * 4, tx * 6 + ty * 4 + 3));
  EXPECT_FALSE(never(tx * 6 + ty * 4, tx * 6 + ty * 4 + 2));
  const Expr row = floordiv(tx, 2) * 4 + floormod(tx, 2);
  EXPECT_TRUE(never(row, row + 2));
  EXPECT_FALSE(never(row, row + 3));
}

TEST_F(EqualIndicesTest, VariablesThatDifferAtTwoPoints) {
  const Expr tx = loop("tx", 4), ty = loop("ty", 2);
  const auto apart = [&](const Expr& a, const Expr& b) { return never_equal({a}, {b}, ranges); };
  EXPECT_TRUE(apart(tx + 4, tx));
  EXPECT_TRUE(apart(tx, tx + 4));
  EXPECT_FALSE(apart(tx + 3, tx));
  EXPECT_FALSE(apart(tx, tx));
  EXPECT_TRUE(apart(make_int(9) - tx, tx));
  EXPECT_FALSE(apart(make_int(6) - tx, tx));
  EXPECT_FALSE(apart(make_ramp(tx + 8, make_int(1), 4), tx));
  // The distance of rows must equal the number of columns.
  EXPECT_TRUE(apart(ty * 8 + tx + 4, ty * 8 + tx));
  EXPECT_FALSE(apart(ty * 7 + tx + 4, ty * 7 + tx));
  EXPECT_TRUE(apart(ty * 4 + tx + 8, ty * 4 + tx));
  EXPECT_FALSE(apart(ty * 4 + tx + 4, ty * 4 + tx));
  // A guard may exclude the threads whose indices would be equal.
  EXPECT_FALSE(apart(tx + 2, tx));
  ranges.assume(tx < make_int(2));
  EXPECT_TRUE(apart(tx + 2, tx));
}

// The reader loops over all elements itself.
TEST_F(EqualIndicesTest, LoopsOfOneAccessAlone) {
  const Expr by = loop("by", 3), tx = loop("tx", 8), k = loop("k", 8);
  EXPECT_FALSE(agree({by, tx}, {by, k}, tx));
  EXPECT_TRUE(agree({by, tx}, {by, k}, by));
}

TEST_F(EqualIndicesTest, OverlappingTiles) {
  const Expr bx = loop("bx", 8), tx = loop("tx", 64);
  EXPECT_FALSE(agree({bx * 60 + tx}, {bx * 60 + tx}, bx));
}

TEST_F(EqualIndicesTest, FusedAxes) {
  const Expr bx = loop("bx", 8), tx = loop("tx", 16);
  const Expr fused = bx * 16 + tx;
  const Exprs two{floordiv(fused, 7), floormod(fused, 7)};
  EXPECT_TRUE(agree(two, two, bx) && agree(two, two, tx));
  const Exprs remainder{floormod(fused, 7)};
  EXPECT_FALSE(agree(remainder, remainder, tx));
  const Exprs three{floordiv(fused, 35), floormod(floordiv(fused, 7), 5), floormod(fused, 7)};
  EXPECT_TRUE(agree(three, three, bx) && agree(three, three, tx));
}

// A symbol is constant during the call; a loop variable is not.
TEST_F(EqualIndicesTest, DivisorsThatDiffer) {
  const Expr tx = loop("tx", 16), t = loop("t", 5), n = make_var("n");
  const Exprs by_symbol{floordiv(tx, n), floormod(tx, n)};
  EXPECT_TRUE(agree(by_symbol, by_symbol, tx));
  const Exprs by_loop{floordiv(tx, t + 1), floormod(tx, t + 1)};
  EXPECT_FALSE(agree(by_loop, by_loop, tx));
}

// Random checks: reported equalities hold for all pairs of points whose indices are equal; if the
// analysis says that no such pair exists, there is none.
TEST_F(EqualIndicesTest, NeverSaysWhatIsWrong) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int held = 0, excluded = 0;
  for (int round = 0; round < 400; ++round) {
    std::array<int64_t, 3> extents{};
    Exprs vars;
    for (size_t v = 0; v < extents.size(); ++v) {
      extents[v] = pick(1, 4);
      vars.push_back(loop("v", extents[v]));
    }
    const auto index = [&](const std::array<int, 4>& c) {
      return vars[0] * c[0] + vars[1] * c[1] + vars[2] * c[2] + c[3];
    };
    std::array<int, 4> one{pick(-4, 4), pick(-4, 4), pick(-4, 4), 0}, other = one;
    if (pick(0, 2) == 0) other[static_cast<size_t>(pick(0, 3))] += pick(-1, 1);
    if (pick(0, 2) == 0) other[3] += pick(-3, 3);
    const EqualIndices met({index(one)}, {index(other)}, variables, ranges);
    const auto value = [](const std::array<int, 4>& c, int64_t x, int64_t y, int64_t z) {
      return c[0] * x + c[1] * y + c[2] * z + c[3];
    };
    const bool never = met.never();
    excluded += never ? 1 : 0;
    const auto points = extents[0] * extents[1] * extents[2];
    for (int64_t p = 0; p < points * points; ++p) {
      const std::array<int64_t, 2> at{p / points, p % points};
      std::array<std::array<int64_t, 3>, 2> x{};
      for (size_t side = 0; side < 2; ++side) {
        x[side] = {at[side] % extents[0], at[side] / extents[0] % extents[1],
                   at[side] / extents[0] / extents[1]};
      }
      if (value(one, x[0][0], x[0][1], x[0][2]) != value(other, x[1][0], x[1][1], x[1][2]))
        continue;
      EXPECT_FALSE(never) << to_string(index(one)) << " and " << to_string(index(other));
      for (size_t v = 0; v < vars.size(); ++v) {
        if (!met.holds(vars[v])) continue;
        EXPECT_EQ(x[0][v], x[1][v]) << to_string(index(one));
      }
    }
    for (const Expr& var : vars) held += met.holds(var) ? 1 : 0;
  }
  EXPECT_GT(held, 150);
  EXPECT_GT(excluded, 20);
}

}  // namespace
}  // namespace texloom::lower
