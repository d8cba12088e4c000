// Tests into which order moves bring elements, one after another.
#include "graph/passes/moves/order.h"

#include <gtest/gtest.h>

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

// Each composition against the elements themselves, for all permutations of three axes.
TEST(Orders, AreThoseOfTheElements) {
  const std::vector<Axes> all = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const auto moved = [](const std::vector<int>& elements, const ir::Shape& shape,
                        const Axes& axes) {
    std::vector<int> made;
    std::vector<std::int64_t> at(3);
    for (at[axes[0]] = 0; at[axes[0]] < shape[axes[0]]; ++at[axes[0]])
      for (at[axes[1]] = 0; at[axes[1]] < shape[axes[1]]; ++at[axes[1]])
        for (at[axes[2]] = 0; at[axes[2]] < shape[axes[2]]; ++at[axes[2]])
          made.push_back(
              elements[static_cast<std::size_t>((at[0] * shape[1] + at[1]) * shape[2] + at[2])]);
    return made;
  };
  std::vector<int> numbers(16);
  for (int i = 0; i < 16; ++i) numbers[static_cast<std::size_t>(i)] = i;
  for (const Axes& first : all) {
    for (const Axes& second : all) {
      const ir::Shape before = {2, 4, 2}, between = {4, 2, 2};
      const auto made = composed(permuted(before, first), permuted(between, second));
      if (!made) continue;
      const auto elements = moved(moved(numbers, before, first), between, second);
      EXPECT_EQ(made->keeps_all(), elements == numbers);
    }
  }
}

}  // namespace
}  // namespace texloom::graph
