// Tests which thread stores an element that several threads compute.
#include "lower/build/store_once.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::make_int;

class ElementOwner : public ::testing::Test {
 protected:
  LoopAround loop(const std::string& name, int extent, bool is_thread = true) {
    const LoopAround made{ir::make_var(name), make_int(extent), is_thread};
    ranges.enter(made.var, made.extent);
    return made;
  }

  // The condition for one axis, of which six elements are computed at once.
  std::string of(const Expr& min, const std::vector<LoopAround>& loops) {
    region.min = {min};
    region.extent = {make_int(6)};
    region.strides.resize(1);
    const Expr place = ir::make_var("i");
    ranges.enter(place, region.extent.front());
    const auto stores = stores_element(region, loops, {place}, ranges);
    return stores ? to_string(*stores) : "unknown";
  }

  schedule::StageBounds region;
  ir::arith::Ranges ranges;
};

TEST_F(ElementOwner, IsTheFirstThreadWhereAllComputeOneRegion) {
  const LoopAround t = loop("t", 4);
  EXPECT_EQ(of(make_int(2), {t}), "t == 0");
}

TEST_F(ElementOwner, IsEachThreadWhereRegionsLieApart) {
  const LoopAround t = loop("t", 4);
  EXPECT_EQ(of(t.var * 6, {t}), "true");
}

TEST_F(ElementOwner, IsTheLastOfOverlappingRegions) {
  const LoopAround b = loop("b", 3);
  EXPECT_EQ(of(b.var * 4, {b}), "!(b + 1 < 3 && b * 4 + i >= b * 4 + 4)");
  EXPECT_EQ(of(b.var * -4, {b}), "!(b + 1 < 3 && i - b * 4 < b * -4 + 2)");
}

// A thread stores an element only if a reader that runs needs elements of the thread's region.
TEST_F(ElementOwner, IsTheLastThatARunningReaderAsksFor) {
  const LoopAround b = loop("b", 3);
  region.clamps = {b.var * 4 < ir::make_var("n")};
  EXPECT_EQ(of(b.var * 4, {b}),
            "b * 4 < n && !(b + 1 < 3 && b * 4 + i >= b * 4 + 4 && b * 4 + 4 < n)");
}

// The regions of a thread's serial loop count as one region.
TEST_F(ElementOwner, StoresWhatItsSerialLoopComputes) {
  const LoopAround t = loop("t", 4), k = loop("k", 3, false);
  EXPECT_EQ(of(t.var * 8 + k.var, {t, k}), "true");
  EXPECT_EQ(of(t.var * 7 + k.var, {t, k}), "!(t + 1 < 4 && t * 7 + k + i >= t * 7 + 7)");
}

// A serial loop that moves the region by its thread's stride counts as part of the thread.
TEST_F(ElementOwner, CountsTheSerialLoopToTheThread) {
  const LoopAround t = loop("t", 2), k = loop("k", 2, false);
  EXPECT_EQ(of(t.var * 4 + k.var * 4, {t, k}), "!(t + 1 < 2 && t * 4 + k * 4 + i >= t * 4 + 4)");
  EXPECT_EQ(of(k.var * 4 + t.var * 4, {k, t}), "!(t + 1 < 2 && k * 4 + t * 4 + i >= t * 4 + 4)");
}

// The owner is unknown if a thread's regions have gaps in which regions of other threads begin.
TEST_F(ElementOwner, IsUnknownOfInterleavedRegions) {
  const LoopAround t = loop("t", 9), k = loop("k", 3, false);
  EXPECT_EQ(of(t.var + k.var * 7, {t, k}), "unknown");
}

TEST_F(ElementOwner, IsUnknownWhereLoopsMayEndEarly) {
  LoopAround b = loop("b", 3);
  b.ends_early = true;
  EXPECT_EQ(of(b.var * 4, {b}), "unknown");
}

}  // namespace
}  // namespace texloom::lower
