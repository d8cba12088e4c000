// Properties of random layouts and index maps.

#include <gtest/gtest.h>

#include "ir/interpret/memory.h"
#include "ir/text/parse_layout.h"
#include "tests/ir/layout/random_layout.h"

namespace texloom::ir {
namespace {

using Index = std::vector<int64_t>;

// With at most this many elements, 100,000 layouts take seconds in an unoptimized build.
constexpr int64_t kMaxElements = 12;
constexpr int kLayouts = 100'000;

// Returns what is wrong with a layout in an image or a buffer, or "": every element has its own
// place inside the rectangle, and all other places are padding.
std::string fault_of(const Layout& layout) {
  const int64_t rows = layout.row_count(), cols = layout.col_count(), lanes = layout.lane_count();
  std::vector<bool> taken(static_cast<size_t>(rows * cols * lanes));
  Index index(layout.shape.size(), 0);
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
  size_t padding = 0;
  for (size_t place = 0; place < taken.size(); ++place) {
    const auto p = static_cast<int64_t>(place);
    const Coordinates c{p / lanes / cols, p / lanes % cols, p % lanes};
    if (!taken[place] && layout.index_at(c)) return "padding is taken for an element";
    padding += taken[place] ? 0 : 1;
  }
  return (padding > 0) == layout.has_padding() ? "" : "has_padding is wrong";
}

// Returns what is wrong with a layout at (x, y) of an image, or "": each element has its own place.
std::string fault_at(const Layout& layout, Memory& memory, int64_t x, int64_t y) {
  std::vector<bool> taken(static_cast<size_t>(memory.size()));
  Index index(layout.shape.size(), 0);
  do {
    const int64_t element = element_at({&memory, x, y}, layout.at(index));
    if (element < memory.texel(x, y) || element >= memory.size()) return "outside the image";
    if (taken[static_cast<size_t>(element)]) return "two elements are in one channel";
    taken[static_cast<size_t>(element)] = true;
  } while (advance(index, layout.shape));
  return {};
}

void expect_round_trip(const Layout& layout) {
  const std::string text = to_string(layout, axis_names(layout.shape.size()));
  TextReader reader(text, "layout");
  EXPECT_EQ(LayoutParser(reader).bind(layout.shape), layout) << text;
}

std::string text_of(const Layout& layout, const ImageLimits& limits) {
  return testing::PrintToString(layout.shape) + " " + to_string(layout) + " under " +
         std::to_string(limits.max_width) + " x " + std::to_string(limits.max_height);
}

TEST(LayoutProperty, HoldsForRandomTexturesFoldsAndOrigins) {
  RandomLayouts random(20240607, kMaxElements);
  int folded = 0, impossible = 0;
  for (int i = 0; i < kLayouts; ++i) {
    const Layout layout = random.texture(random.shape());
    const ImageLimits limits{random.from(1, 20), random.from(1, 20)};
    const auto fold = best_fold(layout, limits);
    ASSERT_EQ(fold == layout, fits(layout, limits)) << text_of(layout, limits);
    const Layout& chosen = fold.value_or(layout);
    ASSERT_FALSE(find_problem(chosen, axis_names(layout.shape.size()))) << text_of(layout, limits);
    ASSERT_EQ(fault_of(chosen), "") << text_of(layout, limits);
    const int64_t x = random.from(0, 2), y = random.from(0, 2);
    Memory image = Memory::image(kFloat32, x + chosen.col_count(), y + chosen.row_count());
    ASSERT_EQ(fault_at(chosen, image, x, y), "") << text_of(layout, limits);
    expect_round_trip(chosen);
    impossible += fold ? 0 : 1;
    if (!fold || fold == layout) continue;
    ++folded;
    ASSERT_TRUE(fits(*fold, limits)) << text_of(layout, limits);
    ASSERT_TRUE(fold->lanes == layout.lanes && fold->shape == layout.shape &&
                fold->object == layout.object && fold->padding == layout.padding);
    // A fold is itself a layout and can be folded again.
    const ImageLimits narrower{random.from(1, limits.max_width), random.from(1, 20)};
    if (const auto again = best_fold(*fold, narrower)) {
      ASSERT_TRUE(fits(*again, narrower)) << text_of(*fold, narrower);
      ASSERT_EQ(fault_of(*again), "") << text_of(*fold, narrower);
    }
  }
  // The random draw is useful only if all cases occur.
  EXPECT_GT(folded, kLayouts / 50);
  EXPECT_GT(impossible, kLayouts / 50);
}

TEST(LayoutProperty, HoldsForRandomBuffers) {
  RandomLayouts random(5, kMaxElements);
  for (int i = 0; i < 20'000; ++i) {
    const Layout layout = random.buffer(random.shape());
    ASSERT_FALSE(find_problem(layout, axis_names(layout.shape.size()))) << to_string(layout);
    ASSERT_EQ(fault_of(layout), "") << to_string(layout);
    expect_round_trip(layout);
  }
}

// With one axis of rows and one of columns, a fold exists exactly if enough pieces fit.
TEST(LayoutProperty, AFoldIsFoundWhenThereIsOne) {
  RandomLayouts random(1, 1);
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

// -- The algebra of index maps.

int64_t elements_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

TEST(IndexMapProperty, IndexAtUndoesAt) {
  RandomLayouts random(2, kMaxElements);
  int padded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const IndexMap map = random.map(random.shape());
    padded += elements_of(map.shape) == elements_of(map.new_shape()) ? 0 : 1;
    Index index(map.shape.size(), 0);
    do {
      ASSERT_EQ(map.index_at(map.at(index)), index) << to_string(map);
    } while (advance(index, map.shape));
  }
  EXPECT_GT(padded, 1'000);
}

TEST(IndexMapProperty, ComposeIsOneAfterTheOther) {
  RandomLayouts random(3, kMaxElements);
  int composed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const IndexMap first = random.map(random.shape());
    const IndexMap second = random.map(first.new_shape());
    const Layout layout = random.texture(second.new_shape());
    const auto both = compose(first, second);
    const auto late = compose(second, layout);
    const auto all = both ? compose(*both, layout) : std::nullopt;
    Index index(first.shape.size(), 0);
    do {
      const Index moved = second.at(first.at(index));
      ASSERT_TRUE(!both || both->at(index) == moved) << to_string(first) << to_string(second);
      ASSERT_TRUE(!all || all->at(index) == layout.at(moved)) << to_string(*both);
      ASSERT_TRUE(!late || late->at(first.at(index)) == layout.at(moved)) << to_string(second);
    } while (advance(index, first.shape));
    if (!all) continue;
    ++composed;
    ASSERT_EQ(all->row_count(), layout.row_count());
    ASSERT_EQ(all->col_count(), layout.col_count());
    ASSERT_EQ(all->lane_count(), layout.lane_count());
    // Composition is associative.
    const auto again = late ? compose(first, *late) : std::nullopt;
    ASSERT_TRUE(!again || same_places(*again, *all)) << to_string(first) << to_string(second);
  }
  EXPECT_GT(composed, 4'000);
}

}  // namespace
}  // namespace texloom::ir
