// Tests the rectangles of folded tensors.
#include "plan/textures/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Five slices of 2 by 3 texels lie side by side in pairs; the last row has one slice.
TEST(Fold, PutsPlanesSideBySide) {
  EXPECT_EQ(folded(item(0, 0, 0, 2, 3, 5), 2), (FoldedExtent{2, 6, 6}));
}

// Products beyond 64 bits do not wrap around.
TEST(Fold, CapsHugeExtents) {
  const FoldedExtent huge = folded(item(0, 0, 0, kMaxExtent, kMaxExtent, kMaxExtent), kMaxExtent);
  EXPECT_EQ(huge.width, kMaxExtent + 1);
  EXPECT_EQ(huge.height, kMaxExtent);
}

// Five slices: 4 side by side need two rows, as 3 do.
TEST(Fold, LeavesOutWhatOnlyAddsColumns) {
  EXPECT_THAT(folds(item(0, 0, 0, 1, 1, 5), 9, 9),
              ElementsAre(FoldedExtent{1, 1, 5}, FoldedExtent{2, 2, 3}, FoldedExtent{3, 3, 2},
                          FoldedExtent{5, 5, 1}));
}

TEST(Fold, RespectsLimits) {
  EXPECT_THAT(folds(item(0, 0, 0, 1, 1, 5), 3, 4),
              ElementsAre(FoldedExtent{2, 2, 3}, FoldedExtent{3, 3, 2}));
  EXPECT_THAT(folds(item(0, 0, 0, 1, 4, 5), 3, 9), IsEmpty());
  EXPECT_THAT(folds(item(0, 0, 0, 3, 1, 5), 9, 2), IsEmpty());
}

// Single texels have too many folds to list all, but the least size of all folds is known.
TEST(Fold, SelectsFromMany) {
  const TextureItem many = item(0, 0, 0, 1, 1, (std::int64_t{1} << 30) - 1);
  const auto some = folds(many, kMaxTexels >> 24, std::int64_t{1} << 24);
  EXPECT_GT(some.size(), kManyFolds);
  EXPECT_LT(some.size(), 2 * kManyFolds);
  EXPECT_EQ(least_texels(many, some), many.slices);
  EXPECT_EQ(least_texels(item(0, 0, 0, 1, 1, 7), {{2, 2, 4}, {3, 3, 3}}), 8);
}

// Five planes of 2 by 3 texels, two above each other, need three columns of planes.
TEST(Fold, KnowsWhetherSomeFoldFits) {
  EXPECT_TRUE(fits(item(0, 0, 0, 2, 3, 5), 9, 4));
  EXPECT_FALSE(fits(item(0, 0, 0, 2, 3, 5), 8, 4));
  EXPECT_FALSE(fits(item(0, 0, 0, 2, 3, 5), 9, 3));
  EXPECT_FALSE(fits(item(0, 0, 0, 2, 3, 5), 99, 1));
}

// folds() lists each fold that fits the limits and is lower than the fold before it.
TEST(Fold, MissesNone) {
  for (std::int64_t slices = 1; slices < 40; ++slices) {
    for (std::int64_t limit = 1; limit < 12; ++limit) {
      std::vector<FoldedExtent> expected;
      for (std::int64_t f = 1; f <= std::min(slices, limit); ++f) {
        const FoldedExtent extent = folded(item(0, 0, 0, 2, 1, slices), f);
        const bool adds = !expected.empty() && expected.back().height == extent.height;
        if (extent.height <= 2 * limit && !adds) expected.push_back(extent);
      }
      EXPECT_EQ(folds(item(0, 0, 0, 2, 1, slices), limit, 2 * limit), expected);
    }
  }
}

}  // namespace
}  // namespace texloom::plan
