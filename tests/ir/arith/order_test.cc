// Tests proofs about minima, selects and divisions.
#include "ir/arith/order.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace texloom::ir::arith {
namespace {

// `t` is positive, `k` is nonnegative, `i` is from 0 to 7, and nothing is known about `x`.
class OrderTest : public testing::Test {
 protected:
  OrderTest() {
    ranges.set(t, {1, Interval::kNone});
    ranges.set(k, {0, Interval::kNone});
    ranges.set(i, {0, 7});
  }
  bool before(const Expr& e) const { return prove_less(e, t, ranges); }
  bool positive(const Expr& e) const { return prove_greater(e, make_int(0), ranges); }

  Expr t = make_var("t"), k = make_var("k"), i = make_var("i"), x = make_var("x");
  Ranges ranges;
};

TEST_F(OrderTest, SumsAsAWhole) {
  EXPECT_TRUE(before(t - 1));
  EXPECT_FALSE(before(t));
  EXPECT_TRUE(positive(t));
  EXPECT_FALSE(positive(k));
}

TEST_F(OrderTest, MinimaAndMaxima) {
  EXPECT_TRUE(before(min(k, t - 1)));
  EXPECT_TRUE(before(min(x, t) - 1));
  EXPECT_FALSE(before(min(k, t)));
  EXPECT_TRUE(before(max(t - 3, make_int(0))));
  EXPECT_FALSE(before(max(t - 3, k)));
  EXPECT_TRUE(positive(max(x, t)));
  EXPECT_TRUE(positive(min(t, k + 1)));
  EXPECT_FALSE(positive(min(x, t)));
}

TEST_F(OrderTest, DivisionsAndRemainders) {
  EXPECT_TRUE(before(floordiv(t, 2)));
  EXPECT_FALSE(before(floordiv(t, 1)));
  EXPECT_TRUE(before(floordiv(t + 1, 3)));
  EXPECT_FALSE(before(floordiv(t + 1, 2)));  // of 1
  EXPECT_TRUE(positive(floordiv(t + 1, 2)));
  EXPECT_FALSE(positive(floordiv(t, 2)));
  EXPECT_TRUE(before(floormod(k, t)));
  EXPECT_TRUE(before(floormod(t - 1, k + 1)));
  EXPECT_FALSE(before(floormod(k, t + 1)));
  EXPECT_FALSE(before(floormod(k, x)));
  EXPECT_TRUE(prove_greater(floormod(x, t), make_int(-1), ranges));
  EXPECT_FALSE(positive(floormod(x, t)));
}

// The condition says which side of the select is taken.
TEST_F(OrderTest, Choices) {
  EXPECT_TRUE(before(make_select(x < t, x, t - 1)));
  EXPECT_FALSE(before(make_select(x < t, t - 1, x)));
  EXPECT_TRUE(before(make_select(x < t, x, make_int(0)) - i));
}

// Sums of values loaded from memory may overflow.
TEST_F(OrderTest, ValuesOfMemory) {
  const Buffer memory = make_buffer("M", kInt32, {8}, MemoryScope::Global, {});
  const Expr value = make_load(memory, {i});
  EXPECT_TRUE(before(min(value, t - 1)));
  EXPECT_TRUE(before(floormod(value, t)));
  EXPECT_FALSE(before(min(t - 1, i) + min(value, make_int(0))));
  EXPECT_FALSE(before(min(t - 1, i) - value));
}

TEST_F(OrderTest, OperandsThatDecreaseWhatTheyAreTakenFrom) {
  EXPECT_TRUE(before(t - max(i, make_int(1))));
  EXPECT_FALSE(before(t - min(i, make_int(1))));
}

}  // namespace
}  // namespace texloom::ir::arith
