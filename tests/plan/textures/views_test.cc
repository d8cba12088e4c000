// Tests plans of views over buffers.
#include "plan/textures/views.h"

#include <gmock/gmock.h>

#include "tests/plan/textures/problems.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::plan {
namespace {

using hal::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

ViewResult planned_views(const TextureProblem& problem, const ViewRules& rules) {
  TextureOptions options;
  options.effort = 1;
  auto result = plan_views(problem, rules, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

TEST(TexelBytes, FollowFromTheFormat) {
  EXPECT_EQ(texel_bytes("rgba32float").value(), 16);
  EXPECT_EQ(texel_bytes("rgba16uint").value(), 8);
  EXPECT_EQ(texel_bytes("rgba8unorm").value(), 4);
  for (const char* name : {"r32float", "rgba", "rgba64float", "rgb8"}) {
    EXPECT_THAT(texel_bytes(name).status(),
                fails_with(StatusCode::InvalidArgument, std::string("of format ") + name));
  }
}

// Rows of 3 texels have a pitch of 4; folded by 2, rows of 6 have a pitch of 8 and none is saved.
// Both views take 2 * 4 texels of 16 bytes.
TEST(Views, AlignRows) {
  TextureProblem problem;
  problem.items = {item(5, 0, 0, 1, 3, 2), item(6, 0, 0, 1, 3, 2)};
  const ViewResult result = planned_views(problem, {4, 2, true});
  EXPECT_THAT(result.arenas, ElementsAre(256));
  ASSERT_EQ(result.placements.size(), 2u);
  EXPECT_EQ(result.placements[0].row_pitch, 4);
  EXPECT_EQ(result.placements[0].fold, 1);
  EXPECT_EQ(std::max(result.placements[0].offset, result.placements[1].offset), 128);
  EXPECT_EQ(result.lower_bound, 256);
}

// Four slices side by side fill a row of 4 texels; below each other, each takes a row.
TEST(Views, FoldToFillRows) {
  TextureProblem problem;
  problem.items = {item(5, 0, 0, 1, 1, 4)};
  EXPECT_EQ(planned_views(problem, {4, 4, false}).placements[0],
            (ViewPlacement{5, 0, 0, 4, 4, 4, 1}));
}

// A kernel's inputs and outputs lie in two arenas, unless the device allows both in one arena.
TEST(Views, SeparateWhatIsReadAndWritten) {
  TextureProblem problem = chain(3, 1, 1, 1);
  EXPECT_EQ(planned_views(problem, {1, 1, false}).arenas.size(), 2u);
  EXPECT_EQ(planned_views(problem, {1, 1, true}).arenas.size(), 1u);
  problem = bottleneck();
  EXPECT_EQ(planned_views(problem, {1, 1, false}).bytes(), 12 * 16);
  EXPECT_EQ(planned_views(problem, {1, 1, true}).bytes(), 11 * 16);
}

// Views of different formats reuse each other's bytes, at offsets that suit both.
TEST(Views, MixFormats) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 1, 3, 1), item(1, 1, 1, 1, 6, 1)};
  problem.items[1].format = "rgba16float";
  EXPECT_THAT(planned_views(problem, {1, 1, false}).arenas, ElementsAre(48));
}

// An exact tensor's view is not folded: its four slices take four rows of 4 texels.
TEST(Views, KeepExactTensorsUnfolded) {
  TextureProblem problem;
  problem.items = {item(5, 0, 0, 1, 1, 4)};
  problem.items[0].exact = true;
  EXPECT_EQ(planned_views(problem, {4, 4, false}).bytes(), 16 * 16);
  problem.items[0].exact_cost = 12;
  const ViewResult kept = planned_views(problem, {4, 4, false});
  EXPECT_THAT(kept.lost_exact, IsEmpty());
  EXPECT_EQ(kept.bytes(), 16 * 16);
  EXPECT_EQ(kept.lower_bound, 4 * 16);  // the bound of a plan that gives up exactness
  problem.items[0].exact_cost = 11;
  const ViewResult lost = planned_views(problem, {4, 4, false});
  EXPECT_EQ(lost.bytes(), 4 * 16);
  EXPECT_THAT(lost.lost_exact, ElementsAre(5));
}

TEST(Views, RefuseRules) {
  const auto fails = fails_with(StatusCode::InvalidArgument, "the alignment is 0 texels");
  EXPECT_THAT(plan_views({}, {0, 1, false}, {}).status(), fails);
  EXPECT_THAT(plan_views({}, {1, 0, false}, {}).status(), fails);
  EXPECT_THAT(planned_views({}, {}).arenas, IsEmpty());
}

}  // namespace
}  // namespace texloom::plan
