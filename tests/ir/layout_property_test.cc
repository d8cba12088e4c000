// Random layouts: what must hold for every shape, rule and limit.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/layout.h"

namespace texloom::ir {
namespace {

using Shape = std::vector<int64_t>;

constexpr int kShapes = 20'000;
constexpr int64_t kMaxElements = 72;

int64_t elements_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

class Random {
 public:
  int64_t from(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  Shape shape() {
    Shape result;
    for (int64_t rank = from(1, 6); rank > 0; --rank) {
      const int64_t room = kMaxElements / elements_of(result);
      const bool lanes = rank == 1 && room >= 4 && from(0, 2) == 0;
      result.push_back(lanes ? 4 : from(1, std::max<int64_t>(1, std::min<int64_t>(room, 24))));
    }
    return result;
  }

 private:
  std::mt19937_64 engine_{20240607};
};

// The next index in row-major order; false behind the last one.
bool advance(Shape& index, const Shape& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

// What is wrong with a layout, or nothing: every element has a place of its own inside the
// rectangle, and all other places are padding.
std::string fault_of(const Layout& layout) {
  const int64_t rows = layout.row_count(), cols = layout.col_count(), lanes = layout.lane_count();
  std::vector<bool> taken(static_cast<size_t>(rows * cols * lanes));
  Shape index(layout.shape.size(), 0);
  do {
    const Coordinates c = layout.at(index);
    if (c.row < 0 || c.row >= rows || c.col < 0 || c.col >= cols || c.lane < 0 || c.lane >= lanes) {
      return "an element is outside the rectangle";
    }
    const auto place = static_cast<size_t>((c.row * cols + c.col) * lanes + c.lane);
    if (taken[place]) return "two elements are in one place";
    taken[place] = true;
    if (layout.index_at(c) != index) return "index_at does not invert at";
  } while (advance(index, layout.shape));
  for (size_t place = 0; place < taken.size(); ++place) {
    const auto p = static_cast<int64_t>(place);
    const Coordinates c{p / lanes / cols, p / lanes % cols, p % lanes};
    if (!taken[place] && layout.index_at(c)) return "padding is taken for an element";
  }
  return {};
}

std::string text_of(const Layout& layout, const ImageLimits& limits) {
  return testing::PrintToString(layout.shape) + " " + to_string(layout) + " under " +
         std::to_string(limits.max_width) + " x " + std::to_string(limits.max_height);
}

TEST(LayoutProperty, HoldsForRandomShapesRulesAndFolds) {
  Random random;
  int folded = 0, impossible = 0;
  for (int i = 0; i < kShapes; ++i) {
    const Shape shape = random.shape();
    const auto rule = static_cast<TextureRule>(random.from(0, 2));
    const Layout layout = texture_layout(shape, rule);
    const ImageLimits limits{random.from(1, 40), random.from(1, 40)};
    ASSERT_EQ(fault_of(layout), "") << text_of(layout, limits);
    const auto fold = best_fold(layout, limits);
    if (layout.fits(limits)) {
      ASSERT_EQ(fold, layout);
      continue;
    }
    if (!fold) {
      ++impossible;
      continue;
    }
    ++folded;
    ASSERT_TRUE(fold->fits(limits)) << text_of(layout, limits);
    ASSERT_EQ(fault_of(*fold), "") << text_of(layout, limits);
    ASSERT_TRUE(fold->lanes == layout.lanes && fold->shape == layout.shape &&
                fold->object == layout.object && fold->padding == layout.padding);
    // A fold is a layout like any other, and can be folded again.
    const ImageLimits narrower{random.from(1, limits.max_width), random.from(1, 40)};
    if (const auto again = best_fold(*fold, narrower)) {
      ASSERT_TRUE(again->fits(narrower)) << text_of(*fold, narrower);
      ASSERT_EQ(fault_of(*again), "") << text_of(*fold, narrower);
    }
  }
  // The draw is worth something only when all cases occur.
  EXPECT_GT(folded, kShapes / 50);
  EXPECT_GT(impossible, kShapes / 50);
}

// With one axis of rows and one of columns a fold exists exactly when enough pieces fit.
TEST(LayoutProperty, AFoldIsFoundWhenThereIsOne) {
  Random random;
  int found = 0;
  for (int i = 0; i < 5'000; ++i) {
    const int64_t rows = random.from(1, 60), cols = random.from(1, 60);
    const ImageLimits limits{random.from(1, 80), random.from(1, 80)};
    const Layout layout = texture_layout({rows, cols, 4}, TextureRule::Activation);
    const int64_t row_pieces = (rows + limits.max_height - 1) / limits.max_height;
    const int64_t col_pieces = (cols + limits.max_width - 1) / limits.max_width;
    const bool rows_fold = cols * row_pieces <= limits.max_width;
    const bool cols_fold = rows * col_pieces <= limits.max_height;
    const auto fold = best_fold(layout, limits);
    ASSERT_EQ(fold.has_value(), rows_fold || cols_fold)
        << rows << " x " << cols << " under " << limits.max_height << " x " << limits.max_width;
    found += fold ? 1 : 0;
  }
  EXPECT_GT(found, 1'000);
}

}  // namespace
}  // namespace texloom::ir
