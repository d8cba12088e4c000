#include "schedule/bounds/strided_axis.h"

#include <gtest/gtest.h>

#include "ir/arith/simplify.h"

namespace texloom::schedule {
namespace {

using namespace ir;  // the whole file uses IR nodes

class StridedAxes : public ::testing::Test {
 protected:
  // Returns the region of an index while i < 3 and j < 4 vary and t < 8 is fixed.
  std::optional<StridedRegion> region(const Expr& index) const {
    arith::Ranges ranges;
    ranges.set(i, {0, 2});
    ranges.set(j, {0, 3});
    ranges.set(t, {0, 7});
    return strided_region_of(
        index, {{i, {make_int(0), make_int(2)}}, {j, {make_int(0), make_int(3)}}}, ranges);
  }

  Expr i = make_var("i"), j = make_var("j"), t = make_var("t");
};

TEST_F(StridedAxes, HaveAPlaceForEachOffsetAndNoOther) {
  const auto found = region(i * 16 + j + t * 4 + 5);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->axis.leaves_out());
  EXPECT_EQ(found->axis.count(), 12);
  int64_t place = 0;
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 4; ++b, ++place) {
      const Expr offset = make_int(a * 16 + b);
      EXPECT_TRUE(is_int(arith::simplify(found->axis.place_of(offset)), place));
      EXPECT_TRUE(is_int(arith::simplify(found->axis.offset_of(make_int(place))), a * 16 + b));
    }
  }
}

TEST_F(StridedAxes, OfConsecutiveIndicesLeaveNothingOut) {
  const auto found = region(i * 4 + j);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->axis.leaves_out());
  EXPECT_EQ(found->axis.count(), 12);
}

TEST_F(StridedAxes, AreNotOfIndicesThatMeet) {
  EXPECT_FALSE(region(i * 2 + j));
  EXPECT_FALSE(region(i + j));
}

TEST_F(StridedAxes, AreNotOfWhatIsNoSum) {
  EXPECT_FALSE(region(floordiv(i, 2) + t));
  EXPECT_FALSE(region(t - i));
}

}  // namespace
}  // namespace texloom::schedule
