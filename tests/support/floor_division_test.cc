#include "support/floor_division.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace texloom {
namespace {

TEST(FloorDivision, RoundsDown) {
  for (int a = -20; a <= 20; ++a) {
    for (int b = -6; b <= 6; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(floor_div(a, b), std::floor(double(a) / b)) << a << " " << b;
      EXPECT_EQ(floor_mod(a, b), a - floor_div(a, b) * b) << a << " " << b;
    }
  }
}

TEST(FloorDivision, LargeNumbers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(floor_div(kLeast, 2), kLeast / 2);
  EXPECT_EQ(floor_div(kLeast, 3), kLeast / 3 - 1);
  EXPECT_EQ(floor_mod(kLeast, 3), 1);
  EXPECT_EQ(floor_div(kLeast + 1, -1), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace texloom
