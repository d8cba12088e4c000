// Tests into which order moves bring elements, one after another.
#include "graph/passes/moves/order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace texloom::graph {
namespace {

using Axes = std::vector<std::size_t>;

Order permuted(const ir::Shape& shape, const Axes& axes) {
  return order_of(permutation_of(shape, axes));
}

TEST(Orders, DoNotDependOnShapes) {
  const Order swapped{.extents = {6, 4}, .digits = {1, 0}};
  EXPECT_EQ(permuted({6, 4}, {1, 0}), swapped);
  EXPECT_EQ(permuted({2, 3, 4}, {2, 0, 1}), swapped);
  EXPECT_EQ(permuted({1, 6, 1, 4}, {3, 2, 1, 0}), swapped);
  EXPECT_TRUE(permuted({2, 1, 3}, {1, 0, 2}).keeps_all());
  EXPECT_TRUE(permuted({1, 1}, {1, 0}).keeps_all());
}

TEST(Orders, AreComposed) {
  const auto both = composed(permuted({6, 4}, {1, 0}), permuted({4, 2, 3}, {1, 2, 0}));
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->keeps_all());
  // The digits of the second move divide one of the first.
  const auto finer = composed(permuted({6, 4}, {1, 0}), permuted({2, 2, 6}, {1, 0, 2}));
  EXPECT_EQ(finer, permuted({6, 2, 2}, {2, 1, 0}));
  // Those of the first divide one of the second.
  const auto coarser = composed(permuted({2, 3, 4}, {1, 0, 2}), permuted({6, 4}, {1, 0}));
  EXPECT_EQ(coarser, permuted({2, 3, 4}, {2, 1, 0}));
}

TEST(Orders, OfOtherDigitsAreNotComposed) {
  EXPECT_FALSE(composed(permuted({4, 6}, {1, 0}), permuted({8, 3}, {1, 0})));
}

// The elements after an order: digits count like the indices of axes.
std::vector<int> moved(const std::vector<int>& elements, const Order& order) {
  std::vector<std::size_t> weights(order.extents.size(), 1);
  for (std::size_t i = order.extents.size(); i-- > 1;)
    weights[i - 1] = weights[i] * static_cast<std::size_t>(order.extents[i]);
  std::vector<int> made;
  for (std::size_t number = 0; number < elements.size(); ++number) {
    std::size_t left = number, place = 0;
    for (auto digit = order.digits.rbegin(); digit != order.digits.rend(); ++digit) {
      const auto extent = static_cast<std::size_t>(order.extents[*digit]);
      place += left % extent * weights[*digit];
      left /= extent;
    }
    made.push_back(elements[place]);
  }
  return made;
}

TEST(Orders, MoveElements) {
  EXPECT_EQ(moved({0, 1, 2, 3, 4, 5}, permuted({2, 3}, {1, 0})), (std::vector{0, 3, 1, 4, 2, 5}));
}

// Each composition against the elements themselves, for all permutations of three axes.
TEST(Orders, AreThoseOfTheElements) {
  const std::vector<Axes> all = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::vector<int> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0);
  int compositions = 0;
  for (const Axes& first : all) {
    for (const Axes& second : all) {
      const Order a = permuted({2, 4, 2}, first), b = permuted({4, 2, 2}, second);
      const auto made = composed(a, b);
      if (!made) continue;
      ++compositions;
      EXPECT_EQ(moved(numbers, *made), moved(moved(numbers, a), b));
    }
  }
  EXPECT_EQ(compositions, 36);  // powers of two always divide one another
}

}  // namespace
}  // namespace texloom::graph
