#include "ir/layout/index_map.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/ir/layout/map_steps.h"

namespace texloom::ir {
namespace {

// NCHW with channels in groups of four, the lane axis last.
IndexMap packed(const Shape& nchw) {
  return permute_axes(split_axis(identity_map(nchw), 1, 4), {0, 1, 3, 4, 2});
}

TEST(IndexMap, Steps) {
  EXPECT_EQ(to_string(identity_map({2, 3})), "(d0, d1) -> (d0, d1)");
  EXPECT_EQ(to_string(packed({1, 6, 5, 5})), "(d0, d1, d2, d3) -> (d0, d1/4, d2, d3, d1%4)");
  EXPECT_EQ(packed({1, 6, 5, 5}).new_shape(), (Shape{1, 2, 5, 5, 4}));
  EXPECT_EQ(to_string(fuse_axes(identity_map({2, 3, 5}), 1)), "(d0, d1, d2) -> (d0, (d1, d2))");
  EXPECT_EQ(to_string(split_axis(split_axis(identity_map({24}), 0, 12), 1, 3)),
            "(d0) -> (d0/12, d0/3%4, d0%3)");
}

// 5 does not divide 12: the padding of one dozen would overlap the elements of the next dozen.
TEST(IndexMap, AnInnerDigitIsSplitOnlyWhereTheFactorDivides) {
  const IndexMap dozens = split_axis(identity_map({24}), 0, 12);
  EXPECT_THROW(split_axis(dozens, 1, 5), InternalError);
  EXPECT_THROW(split_axis(fuse_axes(identity_map({2, 2}), 0), 0, 2), InternalError);
}

TEST(IndexMap, IndicesBothWays) {
  const IndexMap map = packed({1, 6, 5, 5});
  EXPECT_EQ(map.at({0, 5, 2, 3}), (std::vector<int64_t>{0, 1, 2, 3, 1}));
  EXPECT_EQ(map.index_at({0, 1, 2, 3, 1}), (std::vector<int64_t>{0, 5, 2, 3}));
  EXPECT_EQ(map.index_at({0, 1, 2, 3, 2}), std::nullopt);  // the channels are 0 to 5
  EXPECT_EQ(map.index_at({0, 2, 2, 3, 0}), std::nullopt);
  EXPECT_EQ(map.index_at({0, -1, 2, 3, 0}), std::nullopt);
}

// After fusing to 6, a split by 2 would cut the inner digit 3, which 2 does not divide.
TEST(IndexMap, ComposeRefusesResultsThatAreNotMapsOfDigits) {
  const IndexMap fused = fuse_axes(identity_map({2, 3}), 0);
  EXPECT_EQ(compose(fused, split_axis(identity_map({6}), 0, 2)), std::nullopt);
  EXPECT_EQ(to_string(*compose(fused, split_axis(identity_map({6}), 0, 3))),
            "(d0, d1) -> (d0, d1)");
  const IndexMap wide = fuse_axes(identity_map({2, 6}), 0);
  EXPECT_EQ(to_string(*compose(wide, split_axis(identity_map({12}), 0, 3))),
            "(d0, d1) -> ((d0, d1/3), d1%3)");
}

TEST(IndexMap, DistributedMapsAreLayouts) {
  const Layout layout = distribute(packed({2, 6, 5, 5}), {3, 4}, MemoryObject::Image2d);
  EXPECT_EQ(to_string(layout),
            "texture[(d0, d1, d2, d3) -> rows=(d0, d1/4, d2), cols=(d3), lanes=(d1%4)]");
  EXPECT_EQ(distribute(as_map(layout), {1, 2}, MemoryObject::Image2d), layout);
  // The layout also follows from the caller's shape, [2, 2, 5, 5, 4], in scope "texture".
  const IndexMap map = packed({2, 6, 5, 5});
  const Layout natural = texture_layout(map.new_shape(), TextureRule::Activation);
  EXPECT_TRUE(same_places(*compose(map, natural), layout));
}

TEST(Layout, SamePlacesWhateverTheCuts) {
  const Layout whole = linear_layout({2, 1, 12});
  Layout cut = whole;
  cut.cols = {{0, 1, 2}, {2, 4, 3}, {2, 1, 4}};
  EXPECT_NE(cut, whole);
  EXPECT_TRUE(same_places(cut, whole));
  std::swap(cut.cols[1], cut.cols[2]);
  EXPECT_FALSE(same_places(cut, whole));
  Layout zero = whole;
  zero.padding = Padding::Zero;
  EXPECT_FALSE(same_places(zero, whole));
}

TEST(Layout, LaneAxis) {
  EXPECT_EQ(texture_layout({3, 7}, TextureRule::Activation).lane_axis(), 1);
  EXPECT_EQ(texture_layout({3, 7}, TextureRule::Activation).extent_with_lanes(1), 8);
  EXPECT_EQ(texture_layout({3, 7}, TextureRule::Activation).extent_with_lanes(0), 3);
  EXPECT_EQ(linear_layout({3, 7}).lane_axis(), std::nullopt);
  Layout strided = texture_layout({8}, TextureRule::Activation);
  strided.cols = {{0, 1, 2}};
  strided.lanes = {{0, 2, 4}};
  EXPECT_EQ(strided.lane_axis(), std::nullopt);
  Layout two = texture_layout({2, 2}, TextureRule::Activation);
  two.rows = two.cols = {};
  two.lanes = {{0, 1, 2}, {1, 1, 2}};
  EXPECT_EQ(two.lane_axis(), std::nullopt);
}

}  // namespace
}  // namespace texloom::ir
