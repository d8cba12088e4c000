// Tests which plans are refused.
#include "plan/textures/plan.h"

#include "tests/plan/textures/problems.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::plan {
namespace {

using hal::fails_with;

// Two items of 2 by 2 texels that are live together, side by side in one image.
TextureProblem problem() {
  TextureProblem problem;
  problem.items = {item(3, 0, 1, 2, 2, 1), item(4, 1, 2, 2, 2, 1)};
  return problem;
}
TexturePlan plan() {
  return {{{4, 2, "rgba32float"}}, {{3, 0, 0, 0, 1, 2, 2}, {4, 0, 2, 0, 1, 2, 2}}};
}

auto fails(const std::string& part) { return fails_with(StatusCode::InvalidArgument, part); }

TEST(TexturePlan, AcceptsRectanglesSideBySide) {
  TL_EXPECT_OK(verify(problem(), plan()));
  EXPECT_EQ(plan().texels(), 8);
}

TEST(TexturePlan, RefusesOverlapsInSpaceAndTime) {
  TexturePlan wrong = plan();
  wrong.placements[1].x = 1;
  EXPECT_THAT(verify(problem(), wrong), fails("items 3 and 4 overlap in image 0"));
  TextureProblem later = problem();
  later.items[1].lifetime = {2, 2};
  TL_EXPECT_OK(verify(later, wrong));
}

TEST(TexturePlan, RefusesImagesThatOneOperatorReadsAndWrites) {
  TextureProblem apart = problem();
  apart.read_write = {{3, 4}};
  EXPECT_THAT(verify(apart, plan()), fails("share image 0"));
}

TEST(TexturePlan, RefusesPlaces) {
  TexturePlan wrong = plan();
  wrong.placements[1].x = 3;
  EXPECT_THAT(verify(problem(), wrong), fails("lies at x=3, y=0, not inside image 0 with width 4"));
  wrong = plan();
  wrong.placements[1].image = 1;
  EXPECT_THAT(verify(problem(), wrong), fails("image 1, which does not exist"));
  wrong = plan();
  wrong.placements[1].height = 1;
  EXPECT_THAT(verify(problem(), wrong), fails("item 4 folded by 1"));
  wrong = plan();
  wrong.placements[1].fold = 2;
  EXPECT_THAT(verify(problem(), wrong), fails("item 4 folded by 2"));
  wrong = plan();
  wrong.placements[1].id = 3;
  EXPECT_THAT(verify(problem(), wrong), fails("names item 3"));
  wrong.placements.pop_back();
  EXPECT_THAT(verify(problem(), wrong), fails("1 placements for 2 items"));
}

TEST(TexturePlan, RefusesFormatsAndLimits) {
  TextureProblem other = problem();
  other.items[1].format = "rgba16float";
  EXPECT_THAT(verify(other, plan()), fails("item 4 of format rgba16float"));
  TextureProblem narrow = problem();
  narrow.max_width = 3;
  EXPECT_THAT(verify(narrow, plan()),
              fails("image 0 has width 4 and height 2, which exceeds the limits: width 3"));
}

// An image must have exactly the extent of an exact item, unless the item may give up exactness.
TEST(TexturePlan, RefusesInexactImages) {
  TextureProblem exact = problem();
  exact.items[1].exact = true;
  EXPECT_THAT(verify(exact, plan()), fails("item 4 requires an image of exactly its extent"));
  exact.items[1].exact_cost = 1;
  TL_EXPECT_OK(verify(exact, plan()));
}

}  // namespace
}  // namespace texloom::plan
