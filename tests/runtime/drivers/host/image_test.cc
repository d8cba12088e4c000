// Tests images in host memory: every format, clamping, and accesses outside of the image.
#include "runtime/drivers/host/image.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "support/half.h"

namespace texloom::hal::host {
namespace {

class ImageTest : public ::testing::TestWithParam<TexelFormat> {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(3 * 2 * 16 + 2 * 8, std::byte{0});
  // An image of 3 x 2 texels with gaps between the rows.
  Image image_{memory_.data(), {3, 2}, GetParam(), 3 * bytes_per_texel(GetParam()) + 8};
};

INSTANTIATE_TEST_SUITE_P(EveryFormat, ImageTest, ::testing::ValuesIn(kAllTexelFormats),
                         [](const auto& param) { return std::string(to_string(param.param)); });

// Writes outside are dropped; reads outside, or of unwritten texels, return zeros.
TEST_P(ImageTest, BorderIsZeroAndDropsWrites) {
  for (std::int64_t y = -1; y <= 2; ++y) {
    for (std::int64_t x = -1; x <= 3; ++x) image_.write<std::int32_t>(x, y, {1, 1, 1, 1});
  }
  image_.write<std::int32_t>(std::int64_t{1} << 32, 0, {7, 7, 7, 7});
  for (std::int64_t y = -2; y <= 3; ++y) {
    for (std::int64_t x = -2; x <= 4; ++x) {
      const bool inside = x >= 0 && x < 3 && y >= 0 && y < 2;
      EXPECT_EQ(image_.read<std::int32_t>(x, y)[3], inside ? 1 : 0) << x << ", " << y;
    }
  }
  const std::size_t row = 3 * bytes_per_texel(GetParam());
  for (std::size_t i = row; i < row + 8; ++i) EXPECT_EQ(memory_[i], std::byte{0});
}

TEST_P(ImageTest, ChannelsKeepTheirPlaces) {
  image_.write<float>(1, 1, {1, 0, 0, 0});
  image_.write<float>(2, 1, {0, 0, 0, 1});
  EXPECT_EQ(image_.read<float>(1, 1), (std::array<float, 4>{1, 0, 0, 0}));
  EXPECT_EQ(image_.read<float>(2, 1), (std::array<float, 4>{0, 0, 0, 1}));
  const std::byte* texel = image_.at(1, 1);
  EXPECT_EQ(texel - memory_.data(), 4 * bytes_per_texel(GetParam()) + 8);
}

// Values out of range are clamped to the format's limits; NaN becomes zero in integers.
TEST_P(ImageTest, WhatDoesNotFitIsTheNearest) {
  const float big = 1e30F;
  image_.write<float>(0, 0, {big, -big, NAN, 1.5F});
  const auto texel = image_.read<float>(0, 0);
  const auto integers = image_.read<std::int32_t>(0, 0);
  if (is_normalized(GetParam())) {
    EXPECT_EQ(texel, (std::array<float, 4>{1, 0, 0, 1}));
    return;
  }
  switch (channel_type(GetParam())) {
    case ElementType::Int8:
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{127, -128, 0, 1}));
      break;
    case ElementType::UInt8:
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{255, 0, 0, 1}));
      break;
    case ElementType::Int16:
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{32767, -32768, 0, 1}));
      break;
    case ElementType::UInt16:
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{65535, 0, 0, 1}));
      break;
    case ElementType::Int32:
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{INT32_MAX, INT32_MIN, 0, 1}));
      break;
    case ElementType::UInt32:
      EXPECT_EQ(image_.read<std::uint32_t>(0, 0)[0], UINT32_MAX);
      EXPECT_EQ(integers, (std::array<std::int32_t, 4>{INT32_MAX, 0, 0, 1}));
      break;
    case ElementType::Float16:
      EXPECT_EQ(texel[0], HUGE_VALF);
      EXPECT_TRUE(std::isnan(texel[2]));
      EXPECT_EQ(texel[3], 1.5F);
      break;
    default:
      EXPECT_EQ(texel[1], -big);
      EXPECT_TRUE(std::isnan(texel[2]));
      EXPECT_EQ(texel[3], 1.5F);
  }
}

// 32-bit integers keep every bit: they do not pass through floats.
TEST(Image, IntegersOf32BitsAreExact) {
  std::vector<std::byte> memory(16);
  const Image image(memory.data(), {1, 1}, TexelFormat::Rgba32UInt, 16);
  image.write<std::uint32_t>(0, 0, {0xfffffffe, 0x80000001, 16777217, 0});
  EXPECT_EQ(image.read<std::uint32_t>(0, 0),
            (std::array<std::uint32_t, 4>{0xfffffffe, 0x80000001, 16777217, 0}));
}

// Stored integers are values times the format's largest integer, rounded to nearest even.
TEST(Image, NormalizedNumbers) {
  std::vector<std::byte> memory(8);
  const Image bytes(memory.data(), {1, 1}, TexelFormat::Rgba8Unorm, 4);
  bytes.write<float>(0, 0, {0.5F, 0.2F, 0.1F, 0.3F / 255});
  EXPECT_EQ(bytes.read<float>(0, 0),
            (std::array<float, 4>{128.0F / 255, 51.0F / 255, 26.0F / 255, 0}));
  const Image words(memory.data(), {1, 1}, TexelFormat::Rgba16Unorm, 8);
  words.write<float>(0, 0, {0.5F, 0.2F, 1, 0});
  EXPECT_EQ(words.read<float>(0, 0), (std::array<float, 4>{32768.0F / 65535, 0.2F, 1, 0}));
}

}  // namespace
}  // namespace texloom::hal::host
