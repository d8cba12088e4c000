// Tests the creation of buffers and textures, and which requests are refused.
#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

class Buffers : public On<> {};
TL_ON_EVERY_DEVICE(Buffers);

TEST_P(Buffers, AreAsTheyWereAskedFor) {
  const auto buffer = make_buffer(1000, BufferUsage::Storage | BufferUsage::CopySource);
  EXPECT_EQ(buffer->bytes(), 1000U);
  EXPECT_EQ(buffer->desc().usage, BufferUsage::Storage | BufferUsage::CopySource);
  EXPECT_EQ(&buffer->device_info(), &info());
}

TEST_P(Buffers, OfOneByteAreMade) { EXPECT_EQ(make_buffer(1)->bytes(), 1U); }

TEST_P(Buffers, OfEachUseAreMade) {
  for (const BufferUsage usage :
       {BufferUsage::Storage, BufferUsage::CopySource, BufferUsage::CopyTarget})
    EXPECT_NE(make_buffer(64, usage), nullptr);
}

TEST_P(Buffers, OfZeroBytesAreRefused) {
  EXPECT_THAT(device().create_buffer({.bytes = 0}).status(),
              fails_with(StatusCode::InvalidArgument, "zero bytes"));
}

TEST_P(Buffers, OverTheLimitAreRefused) {
  EXPECT_THAT(device().create_buffer({.bytes = limits().max_allocation_bytes + 1}).status(),
              fails_with(StatusCode::OutOfMemory, "over the limit"));
  EXPECT_THAT(device().create_buffer({.bytes = ~std::uint64_t{0}}).status(),
              fails_with(StatusCode::OutOfMemory, "over the limit"));
}

TEST_P(Buffers, KeepApartFromEachOther) {
  const auto a = make_buffer(Bytes(257, std::byte{1}));
  const auto b = make_buffer(Bytes(257, std::byte{2}));
  const auto c = make_buffer(Bytes(257, std::byte{3}));
  expect_content(a, Bytes(257, std::byte{1}));
  expect_content(b, Bytes(257, std::byte{2}));
  expect_content(c, Bytes(257, std::byte{3}));
}

TEST_P(Buffers, AreMadeAThousandTimes) {
  for (int i = 0; i < 1000; ++i) ASSERT_NE(make_buffer(64 + i), nullptr);
}

class Textures : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (!IsSkipped() && !info().features.images) GTEST_SKIP() << "no images";
  }
};
TL_ON_EVERY_DEVICE(Textures);

TEST_P(Textures, OfNoTexelsAreRefused) {
  EXPECT_THAT(device().create_texture({.extent = {0, 4}}).status(),
              fails_with(StatusCode::InvalidArgument, "0x4 texels"));
  EXPECT_THAT(device().create_texture({.extent = {4, 0}}).status(),
              fails_with(StatusCode::InvalidArgument, "4x0 texels"));
}

TEST_P(Textures, AreMadeUpToTheLimitOfEachAxis) {
  EXPECT_NE(make_texture({limits().max_image_width, 1}, TexelFormat::Rgba8UInt), nullptr);
  EXPECT_NE(make_texture({1, limits().max_image_height}, TexelFormat::Rgba8UInt), nullptr);
}

TEST_P(Textures, OverTheLimitOfAnAxisAreRefused) {
  for (const Extent2D extent :
       {Extent2D{limits().max_image_width + 1, 1}, Extent2D{1, limits().max_image_height + 1}})
    EXPECT_THAT(device().create_texture({.extent = extent}).status(),
                fails_with(StatusCode::InvalidArgument, "over the limit"));
}

TEST_P(Textures, OfEachUseAreMade) {
  for (const TextureUsage usage : {TextureUsage::Sampled, TextureUsage::Storage,
                                   TextureUsage::CopySource, TextureUsage::CopyTarget})
    EXPECT_NE(make_texture({4, 4}, TexelFormat::Rgba32Float, usage), nullptr);
}

// The last texel of each axis must work like any other.
TEST_P(Textures, HoldTexelsAtTheLimitOfEachAxis) {
  const Bytes texel = random_bytes(4, 1);
  for (const Extent2D extent :
       {Extent2D{limits().max_image_width, 1}, Extent2D{1, limits().max_image_height}}) {
    const auto texture = make_texture_full_of(kSentinel, extent, TexelFormat::Rgba8UInt);
    const TextureRegion last{{extent.width - 1, extent.height - 1}, {1, 1}};
    TL_ASSERT_OK(write_texture(device(), texture, last, texel));
    Bytes expected(std::size_t{extent.width} * extent.height * 4, kSentinel);
    std::copy(texel.begin(), texel.end(), expected.end() - 4);
    expect_content(texture, expected, to_string(extent));
  }
}

class TexturesOfFormats : public OnTextures<> {};
TL_ON_EVERY_TEXTURE(TexturesOfFormats);

TEST_P(TexturesOfFormats, OfOneUseByKernelsAreMade) {
  for (const TextureUsage usage : {TextureUsage::Sampled, TextureUsage::Storage})
    EXPECT_NE(make_texture({4, 4}, format(), usage | TextureUsage::CopyTarget), nullptr);
}

TEST_P(TexturesOfFormats, AreAsTheyWereAskedFor) {
  const auto texture = make_texture({7, 3}, format(), TextureUsage::Sampled);
  EXPECT_EQ(texture->extent(), (Extent2D{7, 3}));
  EXPECT_EQ(texture->format(), format());
  EXPECT_EQ(texture->desc().usage, TextureUsage::Sampled);
  EXPECT_EQ(&texture->device_info(), &info());
}

}  // namespace
}  // namespace texloom::hal::conformance
