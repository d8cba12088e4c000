// Tests what a driver reports about its devices.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Devices : public On<> {
 protected:
  Driver& driver() { return *std::get<0>(GetParam())->driver; }
};
TL_ON_EVERY_DEVICE(Devices);

TEST_P(Devices, HaveNames) {
  EXPECT_FALSE(info().name.empty());
  EXPECT_FALSE(info().platform.empty());
  EXPECT_EQ(info().name.find('\0'), std::string::npos);
}

TEST_P(Devices, AreThoseOfTheList) {
  const auto ordinal = std::get<0>(GetParam())->ordinal;
  EXPECT_EQ(info().name, driver().devices()[ordinal].name);
  EXPECT_EQ(info().limits.max_allocation_bytes,
            driver().devices()[ordinal].limits.max_allocation_bytes);
}

TEST_P(Devices, AreListedAlikeEachTime) {
  const auto again = tested().create();
  TL_ASSERT_OK(again.status());
  ASSERT_EQ((*again)->devices().size(), driver().devices().size());
  for (std::size_t i = 0; i < driver().devices().size(); ++i)
    EXPECT_EQ((*again)->devices()[i].name, driver().devices()[i].name);
}

TEST_P(Devices, GpusComeFirst) {
  bool seen_other = false;
  for (const DeviceInfo& device : driver().devices()) {
    EXPECT_FALSE(seen_other && device.is_gpu());
    seen_other = seen_other || !device.is_gpu();
  }
}

// Texloom relies on at least these limits.
TEST_P(Devices, LimitsAreOfUse) {
  EXPECT_GE(limits().max_workgroup_size, 16U);
  for (const std::uint64_t size : limits().max_workitem_sizes) EXPECT_GE(size, 1U);
  EXPECT_GE(limits().local_memory_bytes, 1024U);
  EXPECT_GE(limits().max_allocation_bytes, 1U << 20);
  EXPECT_GE(limits().global_memory_bytes, limits().max_allocation_bytes / 4);
  EXPECT_GE(limits().max_argument_bytes, 256U);
  EXPECT_GE(limits().compute_units, 1U);
  EXPECT_GE(limits().max_buffers, 9U);
  EXPECT_GE(limits().max_constant_bytes, 128U);
  for (const std::uint32_t groups : limits().max_groups) EXPECT_GE(groups, 65535U);
}

TEST_P(Devices, OffsetsOfBindingsAlignToAPowerOfTwo) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  ASSERT_GE(alignment, 1U);
  EXPECT_EQ(alignment & (alignment - 1), 0U);
}

TEST_P(Devices, ImageLimitsGoWithImages) {
  EXPECT_EQ(info().features.images, limits().max_image_width > 0);
  EXPECT_EQ(info().features.images, limits().max_image_height > 0);
  if (!info().features.images) return;
  EXPECT_GE(limits().max_read_images, 1U);
  EXPECT_GE(limits().max_write_images, 1U);
}

// OpenCL requires these formats of every device with images.
TEST_P(Devices, WithImagesHaveTheCommonFormats) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  for (const TexelFormat format :
       {TexelFormat::Rgba8Int, TexelFormat::Rgba8UInt, TexelFormat::Rgba16Int,
        TexelFormat::Rgba16UInt, TexelFormat::Rgba32Int, TexelFormat::Rgba32UInt,
        TexelFormat::Rgba16Float, TexelFormat::Rgba32Float})
    EXPECT_TRUE(device().supports(format, TextureUsage::All)) << to_string(format);
}

}  // namespace
}  // namespace texloom::hal::conformance
