// Lowers schedules with user-defined layouts: all give the same values as the scope's own layout.
#include <gtest/gtest.h>

#include "tests/ir/layout/random_layout.h"
#include "tests/lower/interpreted.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Layout;
using ir::RandomLayouts;
using ir::Tensor;

// Runs B = A + 1 through a cache of this layout in the interpreter after every pass.
std::string problems_of(const ir::Shape& shape, std::string_view scope, const Layout& layout) {
  const Tensor a = placeholder("A", shape), b = plus_one(a, "B");
  Te te({b});
  const std::string text = to_string(layout, ir::axis_names(shape.size()));
  const Tensor cache = te.s.cache_read(a, scope, Te::ops({b}), line(40), text);
  for (const Tensor& t : {cache, b}) te.bind(t, te.axis(t, 0), "threadIdx.x");
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const Values in = numbers(static_cast<size_t>(count));
  Values expected;
  for (const double value : in) expected.push_back(value + 1);
  const std::string found = problems(lowering_of(te, {a, b}), {in}, expected);
  return found.empty() ? found : text + "\n" + found;
}

// The first axis is bound to threads, so it must not provide the lanes.
bool has_lanes_inside(const Layout& layout) { return layout.lane_axis() != 0; }

TEST(Layouts, RandomTexturesHoldTheValues) {
  RandomLayouts random(11, 60);
  int run = 0, padded = 0;
  while (run < 150) {
    const Layout layout = random.texture(random.shape());
    if (!has_lanes_inside(layout)) continue;
    const auto fold = best_fold(layout, {random.from(2, 12), random.from(2, 12)});
    ASSERT_EQ(problems_of(layout.shape, "texture", fold.value_or(layout)), "");
    ++run;
    padded += layout.has_padding() ? 1 : 0;
  }
  EXPECT_GT(padded, 30);
}

// Lanes past the last extent are written as zero; the interpreter checks this.
TEST(Layouts, PaddingThatIsZero) {
  RandomLayouts random(12, 40);
  for (int run = 0; run < 40;) {
    Layout layout = random.texture(random.shape());
    if (!has_lanes_inside(layout)) continue;
    layout.padding = ir::Padding::Zero;
    ASSERT_EQ(problems_of(layout.shape, "texture", layout), "");
    ++run;
  }
}

TEST(Layouts, RandomBuffersHoldTheValues) {
  RandomLayouts random(13, 60);
  for (int run = 0; run < 100; ++run) {
    const Layout layout = random.buffer(random.shape());
    ASSERT_EQ(problems_of(layout.shape, "global", layout), "");
  }
}

}  // namespace
}  // namespace texloom::lower
