// Tests copies from, to and between textures of every format, to the byte.
#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

constexpr std::byte kNan{0xff};  // four bytes of this value are a NaN

class TextureExtents : public OnTextures<Extent2D> {};
TL_ON_EVERY_TEXTURE(TextureExtents,
                    ::testing::Values(Extent2D{1, 1}, Extent2D{1, 9}, Extent2D{33, 1},
                                      Extent2D{37, 19}, Extent2D{64, 64}));

TEST_P(TextureExtents, AreWrittenAndReadWhole) {
  const Extent2D extent = parameter<1>();
  const Bytes data = random_bytes(bytes_of_texels(extent), extent.width);
  const auto texture = make_texture(extent, format(), data);
  expect_content(texture, data);
}

class TextureCopies : public OnTextures<> {};
TL_ON_EVERY_TEXTURE(TextureCopies);

// The texels around the region remain NaN.
TEST_P(TextureCopies, OfARegionWriteItAlone) {
  const auto texture = make_texture_full_of(kNan, {17, 11}, format());
  const Bytes data = random_bytes(7 * 6 * texel(), 3);
  TL_ASSERT_OK(write_texture(device(), texture, {{5, 3}, {7, 6}}, data));
  Bytes expected(17 * 11 * texel(), kNan);
  blit(data, 7 * texel(), 0, expected, 17 * texel(), {5 * texel(), 3, 7 * texel(), 6});
  expect_content(texture, expected);
}

TEST_P(TextureCopies, OfARegionReadItAlone) {
  const Bytes data = random_bytes(17 * 11 * texel(), 4);
  const auto texture = make_texture({17, 11}, format(), data);
  Bytes read(7 * 6 * texel());
  TL_ASSERT_OK(read_texture(device(), texture, {{5, 3}, {7, 6}}, read));
  Bytes expected(read.size());
  blit(data, 17 * texel(), (3 * 17 + 5) * texel(), expected, 7 * texel(), {0, 0, 7 * texel(), 6});
  expect_bytes(read, expected);
}

TEST_P(TextureCopies, OfOneTexelAtEachCorner) {
  const auto texture = make_texture_full_of(kNan, {5, 4}, format());
  Bytes expected(5 * 4 * texel(), kNan);
  unsigned seed = 0;
  for (const Offset2D corner : {Offset2D{0, 0}, Offset2D{4, 0}, Offset2D{0, 3}, Offset2D{4, 3}}) {
    const Bytes data = random_bytes(texel(), ++seed);
    TL_ASSERT_OK(write_texture(device(), texture, {corner, {1, 1}}, data));
    blit(data, texel(), 0, expected, 5 * texel(), {corner.x * texel(), corner.y, texel(), 1});
  }
  expect_content(texture, expected);
}

TEST_P(TextureCopies, OfOneRowAndOfOneColumn) {
  const auto texture = make_texture_full_of(kNan, {9, 8}, format());
  const Bytes row = random_bytes(9 * texel(), 1), column = random_bytes(8 * texel(), 2);
  TL_ASSERT_OK(write_texture(device(), texture, {{0, 3}, {9, 1}}, row));
  TL_ASSERT_OK(write_texture(device(), texture, {{4, 0}, {1, 8}}, column));
  Bytes expected(9 * 8 * texel(), kNan);
  blit(row, row.size(), 0, expected, 9 * texel(), {0, 3, row.size(), 1});
  blit(column, texel(), 0, expected, 9 * texel(), {4 * texel(), 0, texel(), 8});
  expect_content(texture, expected);
}

TEST_P(TextureCopies, BetweenTextures) {
  const Bytes data = random_bytes(8 * 8 * texel(), 5);
  const auto source = make_texture({8, 8}, format(), data);
  const auto target = make_texture_full_of(kNan, {10, 12}, format());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_texture(source, {1, 2}, target, {6, 3}, {4, 5}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(10 * 12 * texel(), kNan);
  blit(data, 8 * texel(), (2 * 8 + 1) * texel(), expected, 10 * texel(),
       {6 * texel(), 3, 4 * texel(), 5});
  expect_content(target, expected);
  expect_content(source, data, "the source");
}

TEST_P(TextureCopies, WithinATexture) {
  Bytes data = random_bytes(10 * 12 * texel(), 6);
  const Bytes before = data;
  const auto texture = make_texture({10, 12}, format(), data);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_texture(texture, {6, 3}, texture, {0, 3}, {4, 5}));
  TL_ASSERT_OK(run(commands));
  blit(before, 10 * texel(), (3 * 10 + 6) * texel(), data, 10 * texel(), {0, 3, 4 * texel(), 5});
  expect_content(texture, data);
}

TEST_P(TextureCopies, OfAWholeTexture) {
  const Bytes data = random_bytes(31 * 17 * texel(), 7);
  const auto source = make_texture({31, 17}, format(), data);
  const auto target = make_texture({31, 17}, format());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_texture(source, {}, target, {}, {31, 17}));
  TL_ASSERT_OK(run(commands));
  expect_content(target, data);
}

// Data copied from a buffer through a texture into another buffer must be unchanged.
TEST_P(TextureCopies, ThroughATextureIntoABuffer) {
  const Bytes data = random_bytes(13 * 7 * texel(), 8);
  const auto source = make_buffer(data), target = make_buffer(data.size());
  const auto texture = make_texture({13, 7}, format());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(source, texture, {.extent = {13, 7}}));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, target, {.extent = {13, 7}}));
  TL_ASSERT_OK(run(commands));
  expect_content(target, data);
}

// Two tensors in one texture are written and read independently.
TEST_P(TextureCopies, OfTwoTensorsInOneTexture) {
  const auto texture = make_texture_full_of(kNan, {12, 10}, format());
  const Bytes a = random_bytes(12 * 4 * texel(), 1), b = random_bytes(7 * 6 * texel(), 2);
  TL_ASSERT_OK(write_texture(device(), texture, {{0, 0}, {12, 4}}, a));
  TL_ASSERT_OK(write_texture(device(), texture, {{5, 4}, {7, 6}}, b));
  Bytes read_a(a.size()), read_b(b.size());
  TL_ASSERT_OK(read_texture(device(), texture, {{0, 0}, {12, 4}}, read_a));
  TL_ASSERT_OK(read_texture(device(), texture, {{5, 4}, {7, 6}}, read_b));
  expect_bytes(read_a, a, "the first");
  expect_bytes(read_b, b, "the second");
}

// The layout of a buffer's rows: extra bytes after each row, and bytes before the first one.
struct Rows {
  std::size_t gap, offset;
};
void PrintTo(const Rows& rows, std::ostream* stream) {
  *stream << "gap" << rows.gap << "_offset" << rows.offset;
}

class TexturePitches : public OnTextures<Rows> {
 protected:
  std::size_t row() const { return 5 * texel(); }
  std::size_t pitch() const { return row() + parameter<1>().gap; }
  std::size_t offset() const { return parameter<1>().offset; }
  // The buffer ends with the last row.
  std::size_t bytes() const { return offset() + 3 * pitch() + row(); }
};
TL_ON_EVERY_TEXTURE(TexturePitches,
                    ::testing::Values(Rows{0, 0}, Rows{0, 3}, Rows{0, 171}, Rows{1, 0}, Rows{1, 5},
                                      Rows{13, 0}, Rows{13, 256}, Rows{160, 0}, Rows{160, 7}));

TEST_P(TexturePitches, OfABufferThatIsCopiedFrom) {
  const Bytes data = random_bytes(bytes(), 1);
  const auto source = make_buffer(data);
  const auto texture = make_texture_full_of(kNan, {9, 8}, format());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(
      source, texture,
      {.origin = {2, 1}, .extent = {5, 4}, .buffer_offset = offset(), .row_pitch = pitch()}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(9 * 8 * texel(), kNan);
  blit(data, pitch(), offset(), expected, 9 * texel(), {2 * texel(), 1, row(), 4});
  expect_content(texture, expected);
}

// The gaps between the rows keep their contents.
TEST_P(TexturePitches, OfABufferThatIsCopiedTo) {
  const Bytes data = random_bytes(9 * 8 * texel(), 2);
  const auto texture = make_texture({9, 8}, format(), data);
  const auto target = make_buffer(Bytes(bytes(), kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_texture_to_buffer(
      texture, target,
      {.origin = {3, 2}, .extent = {5, 4}, .buffer_offset = offset(), .row_pitch = pitch()}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(bytes(), kSentinel);
  blit(data, 9 * texel(), (2 * 9 + 3) * texel(), expected, pitch(), {0, 0, row(), 4}, offset());
  expect_content(target, expected);
}

class LargeTextures : public On<> {};
TL_ON_EVERY_DEVICE(LargeTextures);

// Textures with more rows than fit in the staging buffer are copied block by block.
TEST_P(LargeTextures, AreMovedInBlocks) {
  const Extent2D extent{4001, 1100};
  const std::uint64_t bytes = byte_size(extent, TexelFormat::Rgba32Float);
  ASSERT_GT(bytes, kStagingBytes);
  if (limits().max_image_width < extent.width || limits().max_image_height < extent.height ||
      limits().max_allocation_bytes < bytes)
    GTEST_SKIP() << "all textures fit into the staging buffer";
  const Bytes data = random_bytes(bytes, 6);
  expect_content(make_texture(extent, TexelFormat::Rgba32Float, data), data);
}

class TextureRegions : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    if (!info().features.images) GTEST_SKIP() << "no images";
    texture_ = make_texture({8, 4}, TexelFormat::Rgba8UInt);
    mute_ = make_texture({8, 4}, TexelFormat::Rgba8UInt, TextureUsage::Sampled);
    buffer_ = make_buffer(8 * 4 * 4);
    commands_ = begin();
  }
  Status write(const BufferTextureRegion& region) {
    return commands_->copy_buffer_to_texture(buffer_, texture_, region);
  }
  Status read(const BufferTextureRegion& region) {
    return commands_->copy_texture_to_buffer(texture_, buffer_, region);
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }

  std::shared_ptr<Texture> texture_, mute_;
  std::shared_ptr<Buffer> buffer_;
  std::shared_ptr<CommandBuffer> commands_;
};
TL_ON_EVERY_DEVICE(TextureRegions);

TEST_P(TextureRegions, OfNothingAreRefused) {
  EXPECT_THAT(commands_->copy_buffer_to_texture(buffer_, nullptr, {}), refused("target is null"));
  EXPECT_THAT(commands_->copy_buffer_to_texture(nullptr, texture_, {}), refused("source is null"));
  EXPECT_THAT(commands_->copy_texture_to_buffer(nullptr, buffer_, {}), refused("source is null"));
  EXPECT_THAT(commands_->copy_texture_to_buffer(texture_, nullptr, {}), refused("target is null"));
}
TEST_P(TextureRegions, WithoutTheUsageAreRefused) {
  EXPECT_THAT(commands_->copy_buffer_to_texture(buffer_, mute_, {}), refused("usage"));
  EXPECT_THAT(commands_->copy_texture_to_buffer(mute_, buffer_, {}), refused("source was made"));
  EXPECT_THAT(commands_->copy_texture(mute_, {}, texture_, {}, {1, 1}), refused("usage"));
  EXPECT_THAT(commands_->copy_texture(texture_, {}, mute_, {}, {1, 1}), refused("usage"));
}
TEST_P(TextureRegions, PastAnEdgeAreRefused) {
  for (const Offset2D origin : {Offset2D{1, 0}, Offset2D{0, 1}, Offset2D{0xffffffff, 0}}) {
    EXPECT_THAT(write({.origin = origin, .extent = {8, 4}}), refused("8x4 texels"));
    EXPECT_THAT(read({.origin = origin, .extent = {8, 4}}), refused("8x4 texels"));
  }
}
TEST_P(TextureRegions, OfRowsThatOverlapAreRefused) {
  EXPECT_THAT(write({.extent = {8, 4}, .row_pitch = 31}), refused("pitch of 31 bytes"));
  EXPECT_THAT(read({.extent = {8, 4}, .row_pitch = 31}), refused("pitch of 31 bytes"));
}
TEST_P(TextureRegions, PastTheEndOfTheBufferAreRefused) {
  EXPECT_THAT(write({.extent = {8, 4}, .row_pitch = 33}), refused("wanted 131"));
  EXPECT_THAT(write({.extent = {8, 4}, .buffer_offset = 1}), refused("at offset 1"));
  EXPECT_THAT(read({.extent = {8, 1}, .buffer_offset = 97}), refused("wanted 32 at"));
}
TEST_P(TextureRegions, WhoseBytesOverflowAreRefused) {
  EXPECT_THAT(write({.extent = {8, 4}, .row_pitch = ~std::uint64_t{0} / 2}),
              refused("exceed 2^64 bytes"));
}
TEST_P(TextureRegions, OfTwoFormatsAreRefused) {
  const auto other = make_texture({8, 4}, TexelFormat::Rgba8Int);
  EXPECT_THAT(commands_->copy_texture(texture_, {}, other, {}, {1, 1}),
              refused("the source is rgba8uint, but the target is rgba8int"));
}
TEST_P(TextureRegions, ThatOverlapInOneTextureAreRefused) {
  EXPECT_THAT(commands_->copy_texture(texture_, {}, texture_, {2, 1}, {3, 2}), refused("overlap"));
}
TEST_P(TextureRegions, PastAnEdgeOfEitherTextureAreRefused) {
  EXPECT_THAT(commands_->copy_texture(texture_, {7, 0}, texture_, {}, {2, 1}), refused("source"));
  EXPECT_THAT(commands_->copy_texture(texture_, {}, texture_, {7, 0}, {2, 1}), refused("target"));
}
TEST_P(TextureRegions, OfNoTexelsMoveNothing) {
  TL_ASSERT_OK(write({.origin = {8, 4}}));
  TL_ASSERT_OK(read({.extent = {0, 4}}));
  TL_ASSERT_OK(commands_->copy_texture(texture_, {0, 0}, texture_, {0, 0}, {4, 0}));
  EXPECT_TRUE(commands_->segments().empty());
  TL_ASSERT_OK(run(commands_));
  TL_ASSERT_OK(write_texture(device(), texture_, {{8, 0}, {0, 4}}, {}));
}
TEST_P(TextureRegions, OfAnotherDeviceAreRefused) {
  const auto other = open_another();
  const auto foreign = *other->create_texture({.extent = {8, 4}, .format = TexelFormat::Rgba8UInt});
  EXPECT_THAT(commands_->copy_buffer_to_texture(buffer_, foreign, {.extent = {1, 1}}),
              refused("another device"));
  EXPECT_THAT(commands_->copy_texture(texture_, {}, foreign, {}, {1, 1}),
              refused("another device"));
}
TEST_P(TextureRegions, OfHostMemoryOfAnotherSizeAreRefused) {
  EXPECT_THAT(write_texture(device(), texture_, {{}, {8, 4}}, Bytes(127)), refused("128 bytes"));
  Bytes bytes(15);
  EXPECT_THAT(read_texture(device(), texture_, {{}, {2, 2}}, bytes), refused("16 bytes"));
  Bytes four(16);
  EXPECT_THAT(read_texture(device(), texture_, {{7, 0}, {2, 2}}, four), refused("2x2 texels"));
  EXPECT_THAT(write_texture(device(), nullptr, {}, {}), refused("null"));
}

}  // namespace
}  // namespace texloom::hal::conformance
