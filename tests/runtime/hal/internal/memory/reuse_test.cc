// Tests which free object serves a request.
#include "runtime/hal/internal/memory/reuse.h"

#include <gtest/gtest.h>

#include <limits>

namespace texloom::hal {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(Reuse, NothingIsAddedOrWastedByAnExactFit) {
  EXPECT_EQ(reuse_cost({8, 6}, {8, 6}), ReuseCost{});
  EXPECT_EQ(reuse_cost({kMost, 1}, {kMost, 1}), ReuseCost{});
}

TEST(Reuse, LargerObjectsServeUpToTheRatioOfAnAxis) {
  EXPECT_EQ(reuse_cost({8, 6}, {40, 6}), (ReuseCost{0, 32 * 6}));
  EXPECT_EQ(reuse_cost({8, 6}, {41, 6}), std::nullopt);
  EXPECT_EQ(reuse_cost({8, 6}, {8, 30}), (ReuseCost{0, 8 * 24}));
  EXPECT_EQ(reuse_cost({8, 6}, {8, 31}), std::nullopt);
  // The product of the limit and the ratio has more than 64 bits.
  EXPECT_EQ(reuse_cost({kMost - 1, 1}, {kMost, 1}), (ReuseCost{0, 1}));
}

TEST(Reuse, TallAndWideNeverTakeTurns) {
  EXPECT_EQ(reuse_cost({64, 16}, {16, 64}), std::nullopt);
  EXPECT_EQ(reuse_cost({16, 64}, {64, 16}), std::nullopt);
}

TEST(Reuse, SmallerObjectsGrowWhereThatAddsLessThanANewOne) {
  EXPECT_EQ(reuse_cost({12, 10}, {10, 10}), (ReuseCost{20, 0}));
  EXPECT_EQ(reuse_cost({12, 8}, {10, 10}), (ReuseCost{20, 24}));
  // Growing 64x32 for 32x64 gives 64x64, which adds as much as a new object of 32x64.
  EXPECT_EQ(reuse_cost({64, 32}, {32, 64}), std::nullopt);
  EXPECT_EQ(reuse_cost({64, 33}, {32, 64}), (ReuseCost{2048, 1984}));
}

// Growth is limited, since the object must still fit the request that it was created for.
TEST(Reuse, ObjectsGrowAtMostByTheRatioOfAnAxis) {
  EXPECT_EQ(reuse_cost({50, 10}, {10, 10}), (ReuseCost{400, 0}));
  EXPECT_EQ(reuse_cost({51, 10}, {10, 10}), std::nullopt);
  EXPECT_EQ(reuse_cost({10, 51}, {10, 10}), std::nullopt);
}

TEST(Reuse, NothingServesARequestOfNothing) {
  EXPECT_EQ(reuse_cost({0, 1}, {8, 1}), std::nullopt);
  EXPECT_EQ(reuse_cost({8, 0}, {8, 8}), std::nullopt);
  EXPECT_EQ(reuse_cost({0, 0}, {0, 0}), std::nullopt);
}

TEST(Reuse, WhatIsAddedCountsBeforeWhatIsWasted) {
  EXPECT_LT((ReuseCost{0, 90}), (ReuseCost{1, 0}));
  EXPECT_LT((ReuseCost{1, 8}), (ReuseCost{1, 9}));
}

}  // namespace
}  // namespace texloom::hal
