#include "support/magnitude.h"

#include <gtest/gtest.h>

#include <limits>

namespace texloom {
namespace {

TEST(Magnitude, OfEveryInteger) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(magnitude(0), 0U);
  EXPECT_EQ(magnitude(7), 7U);
  EXPECT_EQ(magnitude(-7), 7U);
  EXPECT_EQ(magnitude(kLeast + 1), (uint64_t{1} << 63) - 1);
  EXPECT_EQ(magnitude(kLeast), uint64_t{1} << 63);
}

}  // namespace
}  // namespace texloom
