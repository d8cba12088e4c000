#include <gtest/gtest.h>

#include "ir/layout/layout_fold.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

using Shape = std::vector<int64_t>;

std::string size_of(const Layout& l) {
  return std::to_string(l.row_count()) + " x " + std::to_string(l.col_count()) + " x " +
         std::to_string(l.lane_count());
}

TEST(LinearLayout, IsRowMajorInOneRow) {
  const Layout layout = linear_layout({2, 3, 5});
  EXPECT_EQ(layout.object, MemoryObject::Buffer);
  EXPECT_EQ(layout.padding, Padding::Undefined);
  EXPECT_EQ(layout.shape, (Shape{2, 3, 5}));
  EXPECT_EQ(size_of(layout), "1 x 30 x 1");
  int64_t offset = 0;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 5; ++k, ++offset) {
        EXPECT_EQ(layout.at({i, j, k}), (Coordinates{0, offset, 0}));
        EXPECT_EQ(layout.index_at({0, offset, 0}), (Shape{i, j, k}));
      }
    }
  }
  EXPECT_EQ(to_string(layout), "linear");
  EXPECT_EQ(size_of(linear_layout({})), "1 x 1 x 1");
  EXPECT_EQ(linear_layout({}).at({}), Coordinates());
}

TEST(LinearLayout, AnotherBufferLayoutIsPrintedInFull) {
  Layout transposed = linear_layout({2, 3});
  std::swap(transposed.cols[0], transposed.cols[1]);
  EXPECT_EQ(to_string(transposed), "buffer[(d0, d1) -> cols=(d1, d0)]");
  EXPECT_EQ(transposed.at({1, 2}), (Coordinates{0, 5, 0}));
  EXPECT_EQ(transposed.at({1, 0}), (Coordinates{0, 1, 0}));
}

struct Row {
  Shape shape;
  std::string activation, weight, nhwc;  // rows x columns x lanes
};

// A last extent of 4 becomes the lanes; a last axis of another extent D is first split into [ceil(D
// / 4), 4].
TEST(TextureLayout, SizesOfAllRules) {
  const std::vector<Row> rows = {
      {{4}, "1 x 1 x 4", "1 x 1 x 4", "1 x 1 x 4"},
      {{1}, "1 x 1 x 4", "1 x 1 x 4", "1 x 1 x 4"},
      {{9}, "1 x 3 x 4", "3 x 1 x 4", "1 x 3 x 4"},
      {{5, 4}, "1 x 5 x 4", "5 x 1 x 4", "1 x 5 x 4"},
      {{5, 8}, "5 x 2 x 4", "5 x 2 x 4", "5 x 2 x 4"},
      {{5, 7, 4}, "5 x 7 x 4", "5 x 7 x 4", "5 x 7 x 4"},
      {{56, 56, 7}, "3136 x 2 x 4", "56 x 112 x 4", "3136 x 2 x 4"},
      {{2, 3, 5, 4}, "6 x 5 x 4", "2 x 15 x 4", "6 x 5 x 4"},
      {{2, 3, 5, 6}, "30 x 2 x 4", "2 x 30 x 4", "6 x 10 x 4"},
      {{2, 3, 5, 7, 4}, "30 x 7 x 4", "2 x 105 x 4", "6 x 35 x 4"},
      {{2, 3, 5, 7, 3}, "210 x 1 x 4", "2 x 105 x 4", "6 x 35 x 4"},
      {{2, 3, 5, 7, 11, 4}, "210 x 11 x 4", "2 x 1155 x 4", "6 x 385 x 4"},
      {{2, 3, 5, 7, 11, 5}, "2310 x 2 x 4", "2 x 2310 x 4", "6 x 770 x 4"},
  };
  for (const Row& row : rows) {
    const std::string name = testing::PrintToString(row.shape);
    EXPECT_EQ(size_of(texture_layout(row.shape, TextureRule::Activation)), row.activation) << name;
    EXPECT_EQ(size_of(texture_layout(row.shape, TextureRule::Weight)), row.weight) << name;
    EXPECT_EQ(size_of(texture_layout(row.shape, TextureRule::Nhwc)), row.nhwc) << name;
  }
}

TEST(TextureLayout, IsAnImageWithUndefinedPadding) {
  const Layout layout = texture_layout({56, 56, 7}, TextureRule::Activation);
  EXPECT_EQ(layout.object, MemoryObject::Image2d);
  EXPECT_EQ(layout.padding, Padding::Undefined);
  EXPECT_EQ(layout.shape, (Shape{56, 56, 7}));
  EXPECT_THROW(texture_layout({}, TextureRule::Weight), InternalError);
}

TEST(TextureLayout, Texts) {
  const auto text = [](const Shape& shape, TextureRule rule) {
    return to_string(texture_layout(shape, rule));
  };
  EXPECT_EQ(text({56, 56, 7}, TextureRule::Activation),
            "texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]");
  EXPECT_EQ(text({64, 16, 4}, TextureRule::Weight),
            "texture[(d0, d1, d2) -> rows=(d0), cols=(d1), lanes=(d2)]");
  EXPECT_EQ(text({1, 7, 7, 6}, TextureRule::Nhwc),
            "texture[(d0, d1, d2, d3) -> rows=(d0, d1), cols=(d2, d3/4), lanes=(d3%4)]");
  EXPECT_EQ(text({3}, TextureRule::Activation),
            "texture[(d0) -> rows=(), cols=(d0/4), lanes=(d0%4)]");
  EXPECT_EQ(text({8}, TextureRule::Weight), "texture[(d0) -> rows=(d0/4), cols=(), lanes=(d0%4)]");
  EXPECT_EQ(text({4}, TextureRule::Nhwc), "texture[(d0) -> rows=(), cols=(), lanes=(d0)]");
}

TEST(TextureLayout, PlacesOfElements) {
  const Layout layout = texture_layout({3, 5, 7}, TextureRule::Activation);
  EXPECT_EQ(layout.at({0, 0, 0}), (Coordinates{0, 0, 0}));
  EXPECT_EQ(layout.at({2, 4, 6}), (Coordinates{14, 1, 2}));
  EXPECT_EQ(layout.at({1, 2, 3}), (Coordinates{7, 0, 3}));
  EXPECT_EQ(layout.index_at({7, 0, 3}), (Shape{1, 2, 3}));
  EXPECT_EQ(layout.index_at({14, 1, 2}), (Shape{2, 4, 6}));
  EXPECT_THROW(layout.at({0, 0}), InternalError);

  const Layout weight = texture_layout({3, 5, 7}, TextureRule::Weight);
  EXPECT_EQ(weight.at({2, 4, 6}), (Coordinates{2, 9, 2}));
  EXPECT_EQ(weight.index_at({2, 9, 2}), (Shape{2, 4, 6}));
}

// 7 of 8 lanes hold elements; coordinates outside the rectangle are neither elements nor padding.
TEST(TextureLayout, PaddingAndOutside) {
  const Layout layout = texture_layout({3, 5, 7}, TextureRule::Activation);
  EXPECT_EQ(layout.index_at({14, 1, 3}), std::nullopt);
  EXPECT_EQ(layout.index_at({0, 1, 3}), std::nullopt);
  EXPECT_NE(layout.index_at({0, 0, 3}), std::nullopt);
  for (const Coordinates& c :
       {Coordinates{15, 0, 0}, Coordinates{0, 2, 0}, Coordinates{0, 0, 4}, Coordinates{-1, 0, 0},
        Coordinates{0, -1, 0}, Coordinates{0, 0, -1}}) {
    EXPECT_EQ(layout.index_at(c), std::nullopt) << c.row << " " << c.col << " " << c.lane;
  }
}

TEST(Layout, Equality) {
  const Layout layout = texture_layout({3, 5, 7}, TextureRule::Activation);
  EXPECT_EQ(layout, texture_layout({3, 5, 7}, TextureRule::Activation));
  EXPECT_NE(layout, texture_layout({3, 5, 7}, TextureRule::Weight));
  EXPECT_NE(layout, texture_layout({3, 5, 8}, TextureRule::Activation));
  Layout zeroed = layout;
  zeroed.padding = Padding::Zero;
  EXPECT_NE(layout, zeroed);
  Layout array = layout;
  array.object = MemoryObject::Image2dArray;
  EXPECT_NE(layout, array);
}

TEST(Layout, FitsUpToTheLimits) {
  const Layout layout = texture_layout({10, 7, 4}, TextureRule::Activation);
  EXPECT_TRUE(fits(layout, {7, 10}));
  EXPECT_TRUE(fits(layout, {100, 100}));
  EXPECT_FALSE(fits(layout, {6, 10}));
  EXPECT_FALSE(fits(layout, {7, 9}));
  EXPECT_FALSE(fits(layout, {10, 7}));
}

std::string folded(const Layout& layout, const ImageLimits& limits) {
  const auto fold = best_fold(layout, limits);
  return fold ? size_of(*fold) + " " + to_string(*fold) : "none";
}

TEST(Fold, WhatFitsIsNotFolded) {
  const Layout layout = texture_layout({8192, 320, 4}, TextureRule::Activation);
  EXPECT_EQ(best_fold(layout, {8192, 8192}), layout);
}

TEST(Fold, RowsGoToTheColumns) {
  EXPECT_EQ(folded(texture_layout({9072, 320, 4}, TextureRule::Activation), {8192, 8192}),
            "4536 x 640 x 4 texture[(d0, d1, d2) -> rows=(d0%4536), cols=(d0/4536, d1), "
            "lanes=(d2)]");
}

TEST(Fold, ColumnsGoToTheRows) {
  EXPECT_EQ(folded(texture_layout({320, 9072, 4}, TextureRule::Weight), {8192, 8192}),
            "640 x 4536 x 4 texture[(d0, d1, d2) -> rows=(d1/4536, d0), cols=(d1%4536), "
            "lanes=(d2)]");
}

TEST(Fold, ASplitAxisIsSplitFurther) {
  EXPECT_EQ(folded(texture_layout({3, 400}, TextureRule::Activation), {50, 50}),
            "6 x 50 x 4 texture[(d0, d1) -> rows=(d1/200, d0), cols=(d1/4%50), lanes=(d1%4)]");
}

// The outer axis moves as a whole if that wastes no texels: 9 * 1008 = 9072 rows.
TEST(Fold, HasTheLeastArea) {
  EXPECT_EQ(folded(texture_layout({9, 1008, 320, 4}, TextureRule::Activation), {8192, 8192}),
            "1008 x 2880 x 4 texture[(d0, d1, d2, d3) -> rows=(d1), cols=(d0, d2), lanes=(d3)]");
}

// 128 x 2 and 16 x 16 have the same area.
TEST(Fold, ThenIsTheMostSquareOne) {
  EXPECT_EQ(folded(texture_layout({16, 16, 1, 4}, TextureRule::Activation), {128, 128}),
            "16 x 16 x 4 texture[(d0, d1, d2, d3) -> rows=(d1), cols=(d0, d2), lanes=(d3)]");
}

// 11 rows under a limit of 4 become 3 pieces of 4, so one row of texels is padding.
TEST(Fold, OfAnExtentThatDoesNotDivide) {
  const Layout layout = texture_layout({11, 2, 4}, TextureRule::Activation);
  EXPECT_EQ(folded(layout, {8, 4}),
            "4 x 6 x 4 texture[(d0, d1, d2) -> rows=(d0%4), cols=(d0/4, d1), lanes=(d2)]");
  const Layout fold = *best_fold(layout, {8, 4});
  EXPECT_EQ(fold.at({10, 1, 3}), (Coordinates{2, 5, 3}));
  EXPECT_EQ(fold.index_at({2, 5, 3}), (Shape{10, 1, 3}));
  EXPECT_EQ(fold.index_at({3, 5, 3}), std::nullopt);
  EXPECT_EQ(fold.index_at({3, 3, 3}), (Shape{7, 1, 3}));
  EXPECT_EQ(folded(layout, {5, 4}), "none");
  EXPECT_EQ(folded(layout, {6, 4}).substr(0, 9), "4 x 6 x 4");
}

// d0 = 40 * a + 4 * b + c with digits of 4, 10 and 4: under a limit of 4, b is split into 5 * 2,
// not 3 * 4, because the padding of 3 * 4 would overlap elements of the next a.
TEST(Fold, CutsAnInnerDigitOnlyWhereItDivides) {
  Layout layout = texture_layout({160, 4}, TextureRule::Activation);
  layout.rows = {{0, 40, 4}, {0, 4, 10}};
  layout.cols = {{0, 1, 4}};
  const Layout fold = *best_fold(layout, {100, 4});
  EXPECT_EQ(size_of(fold) + " " + to_string(fold),
            "2 x 80 x 4 texture[(d0, d1) -> rows=(d0/4%2), cols=(d0/40, d0/8%5, d0%4), "
            "lanes=(d1)]");
  for (int64_t i = 0; i < 160; ++i) EXPECT_EQ(fold.index_at(fold.at({i, 0})), (Shape{i, 0}));
}

TEST(Fold, NothingWhenNoneFits) {
  const Layout layout = texture_layout({9072, 320, 4}, TextureRule::Activation);
  EXPECT_EQ(best_fold(layout, {1000, 1000}), std::nullopt);
  EXPECT_EQ(best_fold(layout, {640, 4535}), std::nullopt);
  EXPECT_EQ(best_fold(layout, {639, 4536}), std::nullopt);
  EXPECT_NE(best_fold(layout, {640, 4536}), std::nullopt);
}

// If an extent is known only at the call, its digit reaches to the end of the axis.
TEST(OpenLayout, IsClosedByAShape) {
  for (const TextureRule rule : {TextureRule::Activation, TextureRule::Weight, TextureRule::Nhwc}) {
    const Layout open = texture_layout({kToTheEnd, 3, kToTheEnd, 6}, rule);
    EXPECT_TRUE(open.is_open());
    EXPECT_EQ(find_problem(open, axis_names(4)), std::nullopt);
    EXPECT_EQ(open.lane_axis(), 3);
    EXPECT_EQ(open.extent_with_lanes(3), 8);
    for (const Shape& shape : {Shape{1, 3, 1, 6}, Shape{5, 3, 7, 6}}) {
      const Layout closed = close(open, shape);
      EXPECT_FALSE(closed.is_open());
      EXPECT_EQ(closed, texture_layout(shape, rule));
      EXPECT_EQ(close(closed, shape), closed);
    }
    EXPECT_TRUE(same_places(open, open));
    EXPECT_FALSE(same_places(open, close(open, {5, 3, 7, 6})));
  }
  const Layout last = texture_layout({5, kToTheEnd}, TextureRule::Activation);
  EXPECT_EQ(to_string(last), "texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]");
  EXPECT_EQ(close(last, {5, 9}), texture_layout({5, 9}, TextureRule::Activation));
}

TEST(OpenLayout, ItsProblemsAreFound) {
  const auto problem = [](LayoutParts rows, LayoutParts cols, LayoutParts lanes) {
    Layout layout{
        {kToTheEnd, 4}, std::move(rows), std::move(cols), std::move(lanes), MemoryObject::Image2d};
    const auto found = find_problem(layout, axis_names(2));
    return found ? found->text : "";
  };
  EXPECT_EQ(problem({{0, 1, 0}}, {}, {{1, 1, 4}}), "");
  EXPECT_EQ(problem({{0, 1, 8}}, {{0, 8, 0}}, {{1, 1, 4}}), "");
  EXPECT_EQ(problem({{0, 1, 8}}, {}, {{1, 1, 4}}), "the parts of axis d0 leave out d0/8");
  EXPECT_EQ(problem({{0, 1, 0}}, {{0, 8, 0}}, {{1, 1, 4}}),
            "the parts of axis d0 overlap: d0 and d0/8");
  EXPECT_EQ(problem({{0, 4, 0}}, {}, {{1, 1, 4}}), "the parts of axis d0 leave out d0%4");
  EXPECT_EQ(problem({}, {{1, 1, 4}}, {{0, 1, 0}}),
            "the number of lanes of a texel is known only at the call");
  EXPECT_TRUE(find_problem(linear_layout({kToTheEnd, 4}), axis_names(2)).has_value());
}

}  // namespace
}  // namespace texloom::ir
