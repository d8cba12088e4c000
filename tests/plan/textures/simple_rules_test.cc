// Tests simple planning rules that other systems use.
#include "plan/textures/simple_rules.h"

#include <gtest/gtest.h>

#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

TextureInstance instance_of(const TextureProblem& problem) {
  std::vector<bool> exact;
  for (const TextureItem& item : problem.items) exact.push_back(item.exact);
  return make_instances(problem, exact).value()[0];
}

// Seven slices do not fill a rectangle of two columns: the smallest fold is used.
TEST(OneImagePerTensor, SharesNothing) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 1, 1, 7), item(1, 1, 1, 2, 2, 1)};
  const Packing packing = one_image_per_tensor(instance_of(problem));
  EXPECT_EQ(packing.texels, 11);
  EXPECT_EQ(packing.items[1].image, 1);
}

// Item 2 finds the images of items 0 and 1 idle: 2 by 3 and 4 by 2 texels. To hold 3 by 3 texels,
// the first image must grow by 3 texels, and the second by 4.
TEST(GrowAndReuse, GrowsTheLeast) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 2, 3, 1), item(1, 0, 0, 4, 2, 1), item(2, 1, 1, 3, 3, 1)};
  const Packing packing = grow_and_reuse(instance_of(problem));
  EXPECT_EQ(packing.items[2].image, 0);
  EXPECT_EQ(packing.texels, 9 + 8);
}

// Both idle images are large enough: the smaller one leaves fewer texels unused.
TEST(GrowAndReuse, WastesTheLeast) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 4, 4, 1), item(1, 0, 0, 3, 3, 1), item(2, 1, 1, 2, 2, 1)};
  EXPECT_EQ(grow_and_reuse(instance_of(problem)).items[2].image, 1);
}

// To hold 1 by 9 texels, an image of 9 by 1 would grow to 9 by 9: a new image adds less.
TEST(GrowAndReuse, MakesANewImage) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 9, 1, 1), item(1, 1, 1, 1, 9, 1)};
  EXPECT_EQ(grow_and_reuse(instance_of(problem)).texels, 18);
}

// The image of an exact item is not idle for an item of another size.
TEST(GrowAndReuse, LeavesExactImagesAlone) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 2, 2, 1), item(1, 1, 1, 2, 1, 1), item(2, 2, 2, 2, 2, 1)};
  problem.items[0].exact = true;
  problem.items[2].exact = true;
  const Packing packing = grow_and_reuse(instance_of(problem));
  EXPECT_EQ(packing.texels, 4 + 2);
  EXPECT_EQ(packing.items[2].image, 0);
}

}  // namespace
}  // namespace texloom::plan
