// Tests that layouts are folded in the same way as by the planner of textures (plan/textures).
#include "graph/scopes/planes.h"

#include <gtest/gtest.h>

#include "plan/textures/fold.h"

namespace texloom::graph {
namespace {

TEST(Planes, AFoldHasTheExtentThatThePlannerCounts) {
  const ir::Layout layout = ir::texture_layout({1, 7, 5, 6, 4}, ir::TextureRule::Activation);
  const Planes planes = planes_of(layout);
  EXPECT_EQ(planes.width, 6);
  EXPECT_EQ(planes.height, 5);
  EXPECT_EQ(planes.slices, 7);
  for (int64_t fold = 2; fold <= 7; ++fold) {
    const auto result = folded(layout, fold);
    ASSERT_TRUE(result) << fold;
    EXPECT_FALSE(ir::find_problem(*result, ir::axis_names(5))) << fold;
    plan::TextureItem item;
    item.width = planes.width;
    item.height = planes.height;
    item.slices = planes.slices;
    const plan::FoldedExtent expected = plan::folded(item, fold);
    EXPECT_LE(result->col_count(), expected.width) << fold;
    EXPECT_EQ(result->row_count(), expected.height) << fold;
  }
}

// A plane's number combines a picture and a channel; a fold can split only one of them.
TEST(Planes, TwoDigitsHaveNoFold) {
  EXPECT_FALSE(
      folded(ir::texture_layout({2, 7, 5, 6, 4}, ir::TextureRule::Activation), 2).has_value());
}

}  // namespace
}  // namespace texloom::graph
