#include "runtime/hal/types.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/hal/device_info.h"

namespace texloom::hal {
namespace {

TEST(ElementType, NamesAndSizesGoTogether) {
  for (int i = 0; i <= static_cast<int>(ElementType::Float64); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_from_name(to_string(type)), type);
    // The number at the end of a type's name is its size in bits; a bool takes a byte.
    const std::string name(to_string(type));
    const std::size_t digits = name.find_first_of("0123456789");
    const unsigned long bits = digits == std::string::npos ? 8 : std::stoul(name.substr(digits));
    EXPECT_EQ(byte_size(type) * 8, bits) << name;
  }
  EXPECT_EQ(element_type_from_name("float"), std::nullopt);
}

TEST(TexelFormat, IsFourChannelsOfItsElementType) {
  for (const TexelFormat format : kAllTexelFormats) {
    // A normalized format reinterprets the texels of an integer format.
    const TexelFormat plain = *texel_format_of(channel_type(format));
    EXPECT_FALSE(is_normalized(plain));
    EXPECT_EQ(plain == format, !is_normalized(format)) << to_string(format);
    EXPECT_EQ(bytes_per_texel(format), 4 * byte_size(channel_type(format)));
  }
  EXPECT_EQ(to_string(TexelFormat::Rgba16UInt), "rgba16uint");
  EXPECT_EQ(to_string(TexelFormat::Rgba8Unorm), "rgba8unorm");
  EXPECT_EQ(channel_type(TexelFormat::Rgba16Unorm), ElementType::UInt16);
  EXPECT_EQ(texel_format_of(ElementType::Float64), std::nullopt);
}

TEST(Ranges, AreComparedWithoutOverflow) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(range_fits(3, 5, 8));
  EXPECT_TRUE(range_fits(8, 0, 8));
  EXPECT_FALSE(range_fits(4, 5, 8));
  EXPECT_FALSE(range_fits(9, 0, 8));
  EXPECT_FALSE(range_fits(2, kMax, 8));
  EXPECT_FALSE(range_fits(kMax, 2, 8));
  EXPECT_TRUE(region_fits({1, 2}, {3, 4}, {4, 6}));
  EXPECT_FALSE(region_fits({2, 2}, {3, 4}, {4, 6}));
  EXPECT_FALSE(region_fits({1, 3}, {3, 4}, {4, 6}));
  EXPECT_FALSE(region_fits({0xffffffffu, 0}, {2, 1}, {4, 6}));
}

TEST(Usage, AllowsWhatItIncludes) {
  const TextureUsage usage = TextureUsage::Sampled | TextureUsage::CopyTarget;
  EXPECT_TRUE(allows(usage, TextureUsage::Sampled));
  EXPECT_FALSE(allows(usage, TextureUsage::Storage));
  EXPECT_FALSE(allows(usage, TextureUsage::Sampled | TextureUsage::Storage));
  EXPECT_TRUE(allows(TextureUsage::All, usage));
  EXPECT_TRUE(allows(BufferUsage::All, BufferUsage::CopySource | BufferUsage::Storage));
}

TEST(DeviceType, HasNames) {
  EXPECT_EQ(to_string(DeviceType::Gpu), "gpu");
  EXPECT_EQ(to_string(DeviceType::Accelerator), "accelerator");
  EXPECT_EQ(to_string(DeviceType::Cpu), "cpu");
  EXPECT_EQ(to_string(DeviceType::Other), "other");
}

TEST(Access, SaysWhatItDoes) {
  EXPECT_EQ(to_string(Access::Read), "read");
  EXPECT_EQ(to_string(Access::Write), "write");
  EXPECT_EQ(to_string(Access::ReadWrite), "read-write");
  EXPECT_TRUE(reads(Access::Read));
  EXPECT_FALSE(writes(Access::Read));
  EXPECT_FALSE(reads(Access::Write));
  EXPECT_TRUE(writes(Access::Write));
  EXPECT_TRUE(reads(Access::ReadWrite) && writes(Access::ReadWrite));
}

}  // namespace
}  // namespace texloom::hal
