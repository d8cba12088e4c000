#include "support/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace texloom {
namespace {

// Every half is checked against the definition and converted back.
TEST(Half, EveryNumberIsExactAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    const std::uint32_t exponent = bits >> 10 & 0x1f;
    const std::uint32_t fraction = bits & 0x3ff;
    if (exponent == 0x1f && fraction != 0) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(float_of_half(half_of_float(value))));
      continue;
    }
    // A float's exponent is 112 higher than a half's; a subnormal half is a multiple of 2^-24.
    float expected = std::ldexp(static_cast<float>(fraction), -24);
    if (exponent != 0) expected = std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
    if (exponent == 0x1f) expected = std::numeric_limits<float>::infinity();
    EXPECT_EQ(std::fabs(value), expected) << bits;
    EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
    EXPECT_EQ(half_of_float(value), half);
  }
}

// Between each half and the next, rounds values below, at (to even) and above the midpoint.
TEST(Half, RoundsToNearestAndTiesToEven) {
  for (std::uint16_t half = 0; half < 0x7c00; ++half) {
    const auto next = static_cast<std::uint16_t>(half + 1);
    const float low = float_of_half(half);
    const float high = half == 0x7bff ? 65536.0F : float_of_half(next);
    const float middle = low + (high - low) / 2;  // exact
    EXPECT_EQ(half_of_float(middle), half % 2 == 0 ? half : next) << half;
    EXPECT_EQ(half_of_float(std::nextafter(middle, 0.0F)), half) << half;
    EXPECT_EQ(half_of_float(-std::nextafter(middle, HUGE_VALF)), next | 0x8000) << half;
  }
  EXPECT_EQ(half_of_float(1e30F), 0x7c00);
}

}  // namespace
}  // namespace texloom
