// Tests how items are packed one by one, and how a packing is made smaller.
#include "plan/textures/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/textures/repair.h"
#include "plan/textures/search.h"
#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

constexpr std::int64_t kUnlimited = 1'000'000'000;

TextureInstance instance_of(const TextureProblem& problem) {
  std::vector<bool> exact;
  for (const TextureItem& item : problem.items) exact.push_back(item.exact);
  return make_instances(problem, exact).value()[0];
}

Packing pack(const TextureInstance& instance, std::vector<std::int64_t> widths) {
  PackingRecipe recipe;
  for (int i = 0; i < static_cast<int>(instance.size()); ++i) recipe.order.push_back(i);
  recipe.widths = std::move(widths);
  recipe.image.assign(instance.size(), -1);
  return Packer(instance).pack(recipe, kUnlimited, kUnlimited);
}

// Two items of 2 by 2 texels in an image 4 wide: the second lies beside the first.
TEST(Packing, PutsLiveItemsSideBySide) {
  TextureProblem problem;
  problem.items = {item(0, 0, 1, 2, 2, 1), item(1, 0, 1, 2, 2, 1)};
  const Packing packing = pack(instance_of(problem), {4});
  EXPECT_EQ(packing.texels, 8);
  EXPECT_EQ(packing.items[1].x, 2);
  EXPECT_EQ(packing.items[1].y, 0);
}

// The fold is the one that adds no row: 4 slices of 1 by 1 texel fill the row.
TEST(Packing, FoldsToFillRows) {
  TextureProblem problem;
  problem.items = {item(0, 0, 1, 1, 1, 4), item(1, 0, 1, 1, 1, 8)};
  const Packing packing = pack(instance_of(problem), {4});
  EXPECT_EQ(packing.texels, 12);
  EXPECT_EQ(packing.items[0].extent.fold, 4);
}

// The second item is written from the first, so it needs another image; the third reuses the first.
TEST(Packing, KeepsPairsApart) {
  const Packing packing = pack(instance_of(chain(3, 2, 2, 1)), {2});
  EXPECT_EQ(packing.items[0].image, 0);
  EXPECT_EQ(packing.items[1].image, 1);
  EXPECT_EQ(packing.items[2].image, 0);
  EXPECT_EQ(packing.texels, 8);
}

TEST(Packing, AbandonsWhatIsTooLarge) {
  const TextureInstance instance = instance_of(chain(3, 2, 2, 1));
  PackingRecipe recipe{{0, 1, 2}, {2}, {-1, -1, -1}};
  EXPECT_EQ(Packer(instance).pack(recipe, kUnlimited, 5).texels, 5);
}

TEST(Packing, RespectsTheHeightOfImages) {
  TextureProblem problem = chain(2, 2, 2, 1);
  problem.read_write.clear();
  problem.max_height = 3;
  EXPECT_EQ(pack(instance_of(problem), {2}).items[1].image, 1);
}

// An exact item's image does not grow; other items use that image at other times.
TEST(Packing, GivesExactItemsTheirImage) {
  TextureProblem problem;
  problem.items = {item(0, 0, 1, 1, 2, 1), item(1, 2, 3, 2, 2, 1), item(2, 1, 1, 1, 1, 1)};
  problem.items[1].exact = true;
  const Packing packing = pack(instance_of(problem), {});
  EXPECT_EQ(packing.items[0].image, packing.items[1].image);
  EXPECT_EQ(packing.texels, 4);
  problem.items[2].lifetime = {2, 2};
  EXPECT_EQ(pack(instance_of(problem), {}).texels, 5);
}

// Exact items of the same extent share an image, but exact items of different extents do not.
TEST(Packing, SharesImagesOfExactItems) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 2, 2, 1), item(1, 1, 1, 2, 2, 1), item(2, 2, 2, 1, 2, 1)};
  for (TextureItem& exact : problem.items) exact.exact = true;
  EXPECT_EQ(pack(instance_of(problem), {8}).texels, 6);
}

// The row of the first item is empty after that item's end: the packing takes 3 rows, although 2
// suffice.
TEST(Repair, MovesItemsIntoGaps) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 1, 2, 1), item(1, 0, 1, 1, 2, 1), item(2, 1, 2, 1, 2, 1)};
  const TextureInstance instance = instance_of(problem);
  Packing loose = pack(instance, {2});
  ASSERT_EQ(loose.texels, 4);
  loose.images[0].height = 3;
  loose.items[2].y = 2;
  loose.texels = 6;
  Repairer repairer(instance, loose, 1);
  repairer.run(4, 100'000, {});
  EXPECT_EQ(repairer.best().texels, 4);
  EXPECT_EQ(repairer.best().items[2].y, 0);
}

TEST(Repair, StopsWhenTold) {
  const TextureInstance instance = instance_of(bottleneck());
  Repairer repairer(instance, pack(instance, {10}), 1);
  repairer.run(0, kUnlimited, [] { return true; });
  EXPECT_EQ(repairer.steps(), 0);
}

TEST(Search, FindsTheBottleneck) {
  EXPECT_EQ(search(instance_of(bottleneck()), {12, 1'000'000, {}}).texels, 12);
}

// Even without steps, the search tries one packing.
TEST(Search, AlwaysFindsAPlan) {
  EXPECT_GE(search(instance_of(bottleneck()), {0, 0, {}}).texels, 12);
}

}  // namespace
}  // namespace texloom::plan
