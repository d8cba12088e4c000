// Textures: creation, and every copy direction for every format, to the byte.
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

constexpr std::byte kSentinel{0xff};  // four of them are a NaN

class TextureTest : public OpenClTest {};

class TextureFormatTest : public OpenClTest, public ::testing::WithParamInterface<TexelFormat> {
 protected:
  std::size_t texel() const { return bytes_per_texel(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(EveryFormat, TextureFormatTest, ::testing::ValuesIn(kAllTexelFormats),
                         [](const auto& param) { return std::string(to_string(param.param)); });

// A rectangle of bytes inside a larger one.
struct Rectangle {
  std::size_t x, y, width, height;
};

void blit(const Bytes& from, std::size_t from_pitch, std::size_t from_start, Bytes& to,
          std::size_t to_pitch, const Rectangle& place) {
  for (std::size_t row = 0; row < place.height; ++row)
    for (std::size_t column = 0; column < place.width; ++column)
      to[(place.y + row) * to_pitch + place.x + column] =
          from[from_start + row * from_pitch + column];
}

TEST_P(TextureFormatTest, WholeTextureRoundTrips) {
  for (const Extent2D extent :
       {Extent2D{1, 1}, Extent2D{1, 9}, Extent2D{33, 1}, Extent2D{37, 19}}) {
    const auto texture = make_texture(extent, GetParam());
    const Bytes data = random_bytes(extent.width * extent.height * texel(), extent.width);
    TL_ASSERT_OK(write_texture(*device_, texture, {{}, extent}, data));
    EXPECT_EQ(content_of(texture), data) << to_string(extent);
  }
}

// The texels around the region keep their NaNs.
TEST_P(TextureFormatTest, RegionIsWrittenAndReadAlone) {
  const auto texture = make_texture_full_of(kSentinel, {17, 11}, GetParam());
  const TextureRegion region{{5, 3}, {7, 6}};
  const Bytes data = random_bytes(7 * 6 * texel(), 3);
  TL_ASSERT_OK(write_texture(*device_, texture, region, data));
  Bytes expected(17 * 11 * texel(), kSentinel);
  blit(data, 7 * texel(), 0, expected, 17 * texel(), {5 * texel(), 3, 7 * texel(), 6});
  EXPECT_EQ(content_of(texture), expected);
  Bytes read(data.size());
  TL_ASSERT_OK(read_texture(*device_, texture, region, read));
  EXPECT_EQ(read, data);
}

// Pitches that are no multiple of a texel, offsets larger than a pitch, a buffer that ends with the
// last row.
TEST_P(TextureFormatTest, CopyFromABufferHonoursOffsetAndRowPitch) {
  const std::size_t row = 5 * texel();
  for (const std::size_t pitch : {row, row + 1, row + 13, 3 * row}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}, 2 * pitch + 5}) {
      const Bytes data = random_bytes(offset + 3 * pitch + row, static_cast<unsigned>(pitch));
      const auto source = make_buffer(data);
      const auto texture = make_texture_full_of(kSentinel, {9, 8}, GetParam());
      const auto commands = device_->create_command_buffer();
      TL_ASSERT_OK(commands->copy_buffer_to_texture(
          source, texture,
          {.origin = {2, 1}, .extent = {5, 4}, .buffer_offset = offset, .row_pitch = pitch}));
      TL_ASSERT_OK(run(commands));
      Bytes expected(9 * 8 * texel(), kSentinel);
      blit(data, pitch, offset, expected, 9 * texel(), {2 * texel(), 1, row, 4});
      EXPECT_EQ(content_of(texture), expected) << "pitch " << pitch << " offset " << offset;
    }
  }
}

TEST_P(TextureFormatTest, CopyToABufferLeavesTheGapsBetweenRows) {
  const std::size_t row = 5 * texel();
  const Bytes data = random_bytes(9 * 8 * texel(), 4);
  const auto texture = make_texture({9, 8}, GetParam());
  TL_ASSERT_OK(write_texture(*device_, texture, {{}, {9, 8}}, data));
  for (const std::size_t pitch : {row, row + 1, row + 13}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}, 2 * pitch + 5}) {
      const auto target = make_buffer(Bytes(offset + 3 * pitch + row, kSentinel));
      const auto commands = device_->create_command_buffer();
      TL_ASSERT_OK(commands->copy_texture_to_buffer(
          texture, target,
          {.origin = {3, 2}, .extent = {5, 4}, .buffer_offset = offset, .row_pitch = pitch}));
      TL_ASSERT_OK(run(commands));
      Bytes expected(offset + 3 * pitch + row, kSentinel);
      for (std::size_t y = 0; y < 4; ++y)
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(((2 + y) * 9 + 3) * texel()), row,
                    expected.begin() + static_cast<std::ptrdiff_t>(offset + y * pitch));
      EXPECT_EQ(content_of(target), expected) << "pitch " << pitch << " offset " << offset;
    }
  }
}

TEST_P(TextureFormatTest, CopyBetweenAndWithinTextures) {
  const Bytes data = random_bytes(8 * 8 * texel(), 5);
  const auto source = make_texture({8, 8}, GetParam());
  TL_ASSERT_OK(write_texture(*device_, source, {{}, {8, 8}}, data));
  const auto target = make_texture_full_of(kSentinel, {10, 12}, GetParam());
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_texture(source, {1, 2}, target, {6, 3}, {4, 5}));
  TL_ASSERT_OK(commands->copy_texture(target, {6, 3}, target, {0, 3}, {4, 5}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(10 * 12 * texel(), kSentinel);
  for (const std::size_t x : {std::size_t{6}, std::size_t{0}})
    blit(data, 8 * texel(), (2 * 8 + 1) * texel(), expected, 10 * texel(),
         {x * texel(), 3, 4 * texel(), 5});
  EXPECT_EQ(content_of(target), expected);
}

TEST_P(TextureFormatTest, OneUseIsEnoughForAKernelSideTexture) {
  for (const TextureUsage usage : {TextureUsage::Sampled, TextureUsage::Storage})
    EXPECT_NE(make_texture({4, 4}, GetParam(), usage | TextureUsage::CopyTarget), nullptr);
}

// More rows than the staging buffer holds go through it block by block.
TEST_F(TextureTest, LargeTexturesAreMovedInBlocks) {
  const Extent2D extent{4001, 1100};
  const auto texture = make_texture(extent, TexelFormat::Rgba32Float);
  const Bytes data = random_bytes(std::size_t{16} * extent.width * extent.height, 6);
  ASSERT_GT(data.size(), kStagingBytes);
  TL_ASSERT_OK(write_texture(*device_, texture, {{}, extent}, data));
  EXPECT_TRUE(content_of(texture) == data);
}

TEST_F(TextureTest, EmptyRegionsMoveNothing) {
  const auto texture = make_texture({4, 4}, TexelFormat::Rgba8UInt);
  const auto buffer = make_buffer(4);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, texture, {.origin = {4, 4}}));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, buffer, {.extent = {0, 4}}));
  TL_ASSERT_OK(commands->copy_texture(texture, {0, 0}, texture, {0, 0}, {4, 0}));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(write_texture(*device_, texture, {{4, 0}, {0, 4}}, {}));
}

TEST_F(TextureTest, SizesThatNoTextureHasAreRefused) {
  const DeviceLimits& limits = device_->info().limits;
  const auto refusal = [&](Extent2D extent) {
    return device_->create_texture({.extent = extent}).status();
  };
  EXPECT_THAT(refusal({0, 4}), fails_with(StatusCode::InvalidArgument, "0x4 texels"));
  EXPECT_THAT(refusal({limits.max_image_width + 1, 1}),
              fails_with(StatusCode::InvalidArgument, "over the limit"));
  EXPECT_THAT(refusal({1, limits.max_image_height + 1}),
              fails_with(StatusCode::InvalidArgument, "over the limit"));
}

TEST_F(TextureTest, MisuseIsRefused) {
  const auto texture = make_texture({8, 4}, TexelFormat::Rgba8UInt);
  const auto other = make_texture({8, 4}, TexelFormat::Rgba8Int);
  const auto mute = make_texture({8, 4}, TexelFormat::Rgba8UInt, TextureUsage::Sampled);
  const auto buffer = make_buffer(8 * 4 * 4);
  const auto commands = device_->create_command_buffer();
  const auto refused = [](const char* part) {
    return fails_with(StatusCode::InvalidArgument, std::string(part));
  };
  const auto write = [&](const auto& target, const BufferTextureRegion& region) {
    return commands->copy_buffer_to_texture(buffer, target, region);
  };
  EXPECT_THAT(write(std::shared_ptr<Texture>(), {}), refused("the target is null"));
  EXPECT_THAT(write(mute, {}), refused("usage"));
  EXPECT_THAT(write(texture, {.origin = {1, 0}, .extent = {8, 4}}), refused("8x4 texels"));
  EXPECT_THAT(write(texture, {.origin = {0, 1}, .extent = {8, 4}}), refused("8x4 texels"));
  EXPECT_THAT(write(texture, {.extent = {8, 4}, .row_pitch = 31}), refused("pitch of 31 bytes"));
  EXPECT_THAT(write(texture, {.extent = {8, 4}, .row_pitch = 33}), refused("wanted 131"));
  EXPECT_THAT(write(texture, {.extent = {8, 4}, .buffer_offset = 1}), refused("at offset 1"));
  EXPECT_THAT(write(texture, {.extent = {8, 1}, .buffer_offset = 97}), refused("wanted 32 at"));
  EXPECT_THAT(write(texture, {.extent = {8, 4}, .row_pitch = ~std::uint64_t{0} / 2}),
              refused("too large"));
  EXPECT_THAT(commands->copy_buffer_to_texture(nullptr, texture, {}),
              refused("the source is null"));
  EXPECT_THAT(commands->copy_texture_to_buffer(mute, buffer, {}), refused("the source was made"));
  EXPECT_THAT(
      commands->copy_texture_to_buffer(texture, buffer, {.extent = {8, 4}, .buffer_offset = 1}),
      refused("the target has 128 bytes"));
  EXPECT_THAT(commands->copy_texture(texture, {}, other, {}, {1, 1}),
              refused("the source is rgba8uint, the target is rgba8int"));
  EXPECT_THAT(commands->copy_texture(texture, {}, mute, {}, {1, 1}), refused("the target was"));
  EXPECT_THAT(commands->copy_texture(texture, {7, 0}, texture, {}, {2, 1}), refused("the source"));
  EXPECT_THAT(commands->copy_texture(texture, {}, texture, {2, 1}, {3, 2}), refused("overlap"));
  EXPECT_TRUE(commands->segments().empty());
  EXPECT_THAT(write_texture(*device_, texture, {{}, {8, 4}}, Bytes(127)), refused("128 bytes"));
  EXPECT_THAT(write_texture(*device_, nullptr, {}, {}), refused("null"));
  Bytes bytes(16);
  EXPECT_THAT(read_texture(*device_, texture, {{7, 0}, {2, 2}}, bytes), refused("2x2 texels"));
}

}  // namespace
}  // namespace texloom::hal
