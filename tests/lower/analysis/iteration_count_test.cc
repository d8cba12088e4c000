// Tests how often statements run.
#include "lower/analysis/iteration_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::make_binary;
using ir::make_int;

class IterationCount : public ::testing::Test {
 protected:
  static Expr less(const Expr& a, const Expr& b) { return make_binary(BinaryOp::Lt, a, b); }
  static Expr both(const Expr& a, const Expr& b) { return make_binary(BinaryOp::And, a, b); }

  int64_t tried = 0;
  Expr i = ir::make_var("i");
  Expr j = ir::make_var("j");
  Iterations in_both = Iterations(tried).inside_loop(i, make_int(5)).inside_loop(j, make_int(8));
};

TEST_F(IterationCount, LoopsMultiply) {
  EXPECT_EQ(Iterations(tried).count(), (Count{1, true}));
  EXPECT_EQ(in_both.count(), (Count{40, true}));
}

// A loop that begins past its end does not run, nor do the statements inside it.
TEST_F(IterationCount, OfALoopThatEndsBeforeItBegins) {
  const Expr k = ir::make_var("k");
  EXPECT_EQ(in_both.inside_loop(k, make_int(-2)).count(), (Count{0, true}));
  EXPECT_EQ(in_both.inside_loop(k, make_int(-2)).inside_loop(k, make_int(3)).count(),
            (Count{0, true}));
}

// i * 8 + j < 33 holds for four whole rows of eight iterations, and for one more iteration.
TEST_F(IterationCount, OfWhatTheConditionLets) {
  const Expr inside = less(i * make_int(8) + j, make_int(33));
  EXPECT_EQ(in_both.under(inside).count(), (Count{33, true}));
  EXPECT_EQ(in_both.under(inside, false).count(), (Count{7, true}));
}

// A loop inside a condition multiplies the count; nested conditions both apply.
TEST_F(IterationCount, ConditionsNest) {
  const Expr k = ir::make_var("k");
  const Iterations some = in_both.under(less(i, j)).inside_loop(k, make_int(3));
  EXPECT_EQ(some.count(), (Count{25 * 3, true}));               // 7 + 6 + 5 + 4 + 3
  EXPECT_EQ(some.under(less(j, k)).count(), (Count{1, true}));  // i = 0, j = 1, k = 2
}

// The two conditions are counted separately: 5 + 8 cases instead of 40.
TEST_F(IterationCount, ConditionsOfDifferentVariablesAreCountedApart) {
  EXPECT_EQ(in_both.under(both(less(i, make_int(2)), less(j, make_int(3)))).count(),
            (Count{6, true}));
  EXPECT_EQ(tried, 5 + 8);
}

// Conditions may use variables that hoist_divisions has bound to values.
TEST_F(IterationCount, OfBoundValues) {
  const Expr quotient = ir::make_var("quotient");
  const Iterations inner = in_both.with(quotient, floordiv(j, make_int(3)));
  EXPECT_EQ(inner.under(less(quotient, make_int(1))).count(), (Count{5 * 3, true}));
}

TEST_F(IterationCount, AtMostWhereMemoryDecides) {
  const ir::Buffer buffer = ir::global("buffer", ir::kInt32, 8);
  const Iterations inner = in_both.under(less(at(buffer, j), make_int(3)));
  EXPECT_EQ(inner.count(), (Count{40, false}));
  EXPECT_EQ(inner.under(less(i, make_int(2))).count(), (Count{16, false}));
}

// 2^50 cases are not enumerated, and their number does not overflow.
TEST_F(IterationCount, AtMostWhereCasesAreTooMany) {
  Iterations many(tried);
  Expr total = make_int(0);
  for (int n = 0; n < 5; ++n) {
    const Expr var = ir::make_var("n");
    many = many.inside_loop(var, make_int(1 << 10));
    total = total + var;
  }
  EXPECT_EQ(many.under(less(total, make_int(1))).count(), (Count{int64_t{1} << 50, false}));
  for (int n = 0; n < 5; ++n) many = many.inside_loop(ir::make_var("m"), make_int(1 << 10));
  EXPECT_FALSE(many.count().bounded());
}

// Enumeration confirms the counts under up to three comparisons of sums with constants.
TEST_F(IterationCount, RandomConditions) {
  std::mt19937 random(7);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  const Expr k = ir::make_var("k");
  const Iterations all = in_both.inside_loop(k, make_int(6));
  for (int round = 0; round < 200; ++round) {
    std::vector<std::array<int, 4>> rows(static_cast<size_t>(number(1, 3)));
    Iterations some = all;
    for (auto& [a, b, c, limit] : rows) {
      a = number(-2, 2), b = number(-2, 2), c = number(-2, 2), limit = number(-5, 15);
      const Expr sum = i * make_int(a) + j * make_int(b) + k * make_int(c);
      some = some.under(less(sum, make_int(limit)));
    }
    int64_t expected = 0;
    for (int n = 0; n < 5 * 8 * 6; ++n) {
      const int x = n / 48, y = n / 6 % 8, z = n % 6;
      expected += std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
        return row[0] * x + row[1] * y + row[2] * z < row[3];
      });
    }
    EXPECT_EQ(some.count(), (Count{expected, true})) << "round " << round;
  }
}

// The loops form a triangle of 0 + 1 + ... + 4 iterations.
TEST_F(IterationCount, OfAnExtentThatVaries) {
  const Expr k = ir::make_var("k");
  const Iterations rows = Iterations(tried).inside_loop(i, make_int(5));
  EXPECT_EQ(rows.inside_loop(k, i).count(), (Count{10, true}));
  EXPECT_EQ(rows.inside_loop(k, i - make_int(2)).count(), (Count{1 + 2, true}));
}

TEST_F(IterationCount, OfAnExtentInMemory) {
  const Expr k = ir::make_var("k");
  const ir::Buffer bytes = ir::global("bytes", ir::Type::u(8), 8);
  const Expr small = make_cast(ir::kInt32, at(bytes, i));
  EXPECT_EQ(in_both.inside_loop(k, small).count(), (Count{40 * 255, false}));
  const Count unknown = in_both.inside_loop(k, at(ir::global("any", ir::kInt32, 8), i)).count();
  EXPECT_FALSE(unknown.exact);
}

// A loop has no known count if its extent is an argument of the call.
TEST_F(IterationCount, OfAnUnknownExtent) {
  const Count unknown =
      in_both.inside_loop(ir::make_var("k", ir::kInt64), ir::make_var("n", ir::kInt64)).count();
  EXPECT_FALSE(unknown.exact);
  EXPECT_FALSE(unknown.bounded());
}

}  // namespace
}  // namespace texloom::lower
