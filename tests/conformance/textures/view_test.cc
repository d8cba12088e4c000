// Tests textures that are views over a buffer: the same memory as bytes and as texels.
#include <numeric>

#include "tests/conformance/textures/texture_fixture.h"

namespace texloom::hal::conformance {
namespace {

class TextureViews : public OnTextures<> {
 protected:
  void SetUp() override {
    OnTextures<>::SetUp();
    if (IsSkipped()) return;
    if (!info().features.texture_views) GTEST_SKIP() << "no textures over buffers";
    pitch_ = smallest_view_pitch(info(), format(), kExtent.width);
    buffer_ = make_buffer(Bytes(pitch_ * kExtent.height, kSentinel));
    const auto view = device().allocator()->create_view(buffer_, {.texture = desc()});
    TL_ASSERT_OK(view.status());
    view_ = *view;
  }
  TextureDesc desc() const { return {.extent = kExtent, .format = format()}; }
  std::size_t row() const { return kExtent.width * texel(); }

  static constexpr Extent2D kExtent = {5, 4};
  std::uint64_t pitch_ = 0;
  std::shared_ptr<Buffer> buffer_;
  std::shared_ptr<Texture> view_;
};
TL_ON_EVERY_TEXTURE(TextureViews);

TEST_P(TextureViews, AreAsTheyWereAskedFor) {
  EXPECT_EQ(view_->extent(), kExtent);
  EXPECT_EQ(view_->format(), format());
  ASSERT_NE(view_->backing(), nullptr);
  EXPECT_EQ(view_->backing()->row_pitch, pitch_);
}
TEST_P(TextureViews, AreOfTheKindOfMemoryOfTheirBuffer) {
  for (const MemoryKind kind : kAllMemoryKinds) {
    if (!info().memory(kind).available) continue;
    const auto buffer = device().create_buffer({.bytes = pitch_ * kExtent.height, .memory = kind});
    TL_ASSERT_OK(buffer.status());
    const auto view = device().allocator()->create_view(*buffer, {.texture = desc()});
    TL_ASSERT_OK(view.status());
    EXPECT_EQ((*view)->desc().memory, kind);
  }
}
TEST_P(TextureViews, ShowTheBytesOfTheBuffer) {
  const Bytes data = random_bytes(pitch_ * kExtent.height, 1);
  TL_ASSERT_OK(write_buffer(device(), buffer_, 0, data));
  Bytes expected(row() * kExtent.height);
  blit(data, pitch_, 0, expected, row(), {0, 0, row(), kExtent.height});
  expect_content(view_, expected);
}
// The bytes between the rows are unchanged.
TEST_P(TextureViews, WriteTheBytesOfTheBuffer) {
  const Bytes data = random_bytes(row() * kExtent.height, 2);
  TL_ASSERT_OK(write_texture(device(), view_, {{}, kExtent}, data));
  Bytes expected(pitch_ * kExtent.height, kSentinel);
  blit(data, row(), 0, expected, pitch_, {0, 0, row(), kExtent.height});
  expect_content(buffer_, expected);
}
TEST_P(TextureViews, AreReadByKernels) {
  Bytes data(pitch_ * kExtent.height, std::byte{0});
  for (std::size_t i = 0; i < data.size(); i += texel()) data[i] = static_cast<std::byte>(i % 60);
  TL_ASSERT_OK(write_buffer(device(), buffer_, 0, data));
  const auto out = make_texture_full_of(kSentinel, kExtent, format());
  const auto commands = begin();
  const std::array<Binding, 2> bindings = {TextureBinding{view_}, TextureBinding{out}};
  TL_ASSERT_OK(commands->dispatch(executable(kernels::copy_texels(format())), 0,
                                  {kExtent.width, kExtent.height, 1}, bindings, {}));
  TL_ASSERT_OK(run(commands));
  if (channel_type(format()) == ElementType::Float16 ||
      channel_type(format()) == ElementType::Float32)
    return;  // these bits are denormal floats, which a device may flush
  Bytes expected(row() * kExtent.height);
  blit(data, pitch_, 0, expected, row(), {0, 0, row(), kExtent.height});
  expect_content(out, expected);
}
TEST_P(TextureViews, KeepTheBuffer) {
  const Bytes data = random_bytes(row() * kExtent.height, 3);
  const std::weak_ptr<Buffer> watched = buffer_;
  buffer_.reset();
  EXPECT_FALSE(watched.expired());
  TL_ASSERT_OK(write_texture(device(), view_, {{}, kExtent}, data));
  expect_content(view_, data);
}
TEST_P(TextureViews, HaveRowsOfTheirOwnPitch) {
  const std::uint64_t step = limits().view_pitch_alignment * texel();
  const std::uint64_t pitch = pitch_ + step;
  const Bytes bytes = random_bytes(pitch * kExtent.height, 4);
  const auto buffer = make_buffer(bytes);
  const auto view =
      device().allocator()->create_view(buffer, {.texture = desc(), .row_pitch = pitch});
  TL_ASSERT_OK(view.status());
  Bytes expected(row() * kExtent.height);
  blit(bytes, pitch, 0, expected, row(), {0, 0, row(), kExtent.height});
  expect_content(*view, expected);
}
TEST_P(TextureViews, OfPitchesBetweenTheAlignmentAreRefused) {
  const auto buffer = make_buffer(4 * pitch_ * kExtent.height);
  EXPECT_EQ(device()
                .allocator()
                ->create_view(buffer, {.texture = desc(), .row_pitch = pitch_ + 1})
                .status()
                .code(),
            StatusCode::InvalidArgument);
}
TEST_P(TextureViews, PastTheEndOfTheBufferAreRefused) {
  const auto small = make_buffer(pitch_ * (kExtent.height - 1) + row() - 1);
  EXPECT_EQ(device().allocator()->create_view(small, {.texture = desc()}).status().code(),
            StatusCode::InvalidArgument);
}
TEST_P(TextureViews, OfBuffersWithoutTheUsageAreRefused) {
  const auto mute = make_buffer(pitch_ * kExtent.height, BufferUsage::Storage);
  EXPECT_EQ(device().allocator()->create_view(mute, {.texture = desc()}).status().code(),
            StatusCode::InvalidArgument);
}
TEST_P(TextureViews, ReadAndWrittenWithTheirBufferAreRefused) {
  EntryPoint entry = kernels::read_texels(format());
  std::get<BufferParam>(entry.params[1]).min_bytes = 16;
  const std::array<Binding, 2> bindings = {TextureBinding{view_}, BufferBinding{buffer_}};
  const std::array constants = {Constant(5)};
  EXPECT_THAT(begin()->dispatch(executable(entry), 0, {1, 1, 1}, bindings, constants),
              fails_with(StatusCode::InvalidArgument, "are the same memory"));
}

TEST_P(TextureViews, AreNotCopiedOntoTheirOwnRows) {
  const auto commands = begin();
  const auto refused = fails_with(StatusCode::InvalidArgument, "overlap");
  const BufferTextureRegion first_row = {.extent = {5, 1}, .row_pitch = pitch_};
  BufferTextureRegion moved = first_row;
  moved.buffer_offset = pitch_ - 1;  // the last byte of the first row and part of the second
  EXPECT_THAT(commands->copy_texture_to_buffer(view_, buffer_, first_row), refused);
  EXPECT_THAT(commands->copy_texture_to_buffer(view_, buffer_, moved), refused);
  EXPECT_THAT(commands->copy_buffer_to_texture(buffer_, view_, first_row), refused);
  EXPECT_THAT(commands->copy_buffer_to_texture(buffer_, view_, moved), refused);
  EXPECT_THAT(commands->copy_buffer_to_texture(*buffer_->subspan(1, pitch_), view_, first_row),
              refused);
  EXPECT_TRUE(commands->segments().empty());
}
TEST_P(TextureViews, AreCopiedOntoOtherRows) {
  Bytes data = random_bytes(pitch_ * kExtent.height, 5);
  TL_ASSERT_OK(write_buffer(device(), buffer_, 0, data));
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_texture_to_buffer(
      view_, buffer_, {.extent = {5, 1}, .buffer_offset = pitch_, .row_pitch = pitch_}));
  TL_ASSERT_OK(commands->copy_buffer_to_texture(
      buffer_, view_, {.origin = {0, 3}, .extent = {5, 1}, .buffer_offset = 2 * pitch_}));
  TL_ASSERT_OK(run(commands));
  std::copy_n(data.begin(), row(), data.begin() + static_cast<std::ptrdiff_t>(pitch_));
  std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(2 * pitch_), row(),
              data.begin() + static_cast<std::ptrdiff_t>(3 * pitch_));
  expect_content(buffer_, data);
}
TEST_P(TextureViews, ThatOverlapAreNotCopiedOntoEachOther) {
  const auto other = device().allocator()->create_view(buffer_, {.texture = desc()});
  TL_ASSERT_OK(other.status());
  const auto refused = fails_with(StatusCode::InvalidArgument, "of two views over one buffer");
  EXPECT_THAT(begin()->copy_texture(view_, {}, *other, {}, kExtent), refused);
  EXPECT_THAT(begin()->copy_texture(view_, {0, 0}, *other, {1, 1}, {2, 2}), refused);
  EXPECT_THAT(begin()->copy_texture(view_, {0, 0}, view_, {1, 1}, {2, 2}),
              fails_with(StatusCode::InvalidArgument, "of one texture"));
  TL_EXPECT_OK(begin()->copy_texture(view_, {0, 0}, *other, {0, 2}, {5, 2}));
  // Regions side by side in one texture do not overlap.
  TL_EXPECT_OK(begin()->copy_texture(view_, {0, 0}, view_, {2, 0}, {2, 4}));
}

// Two views in one arena, the second after the first.
class DisjointViews : public OnTextures<> {
 protected:
  void SetUp() override {
    OnTextures<>::SetUp();
    if (IsSkipped()) return;
    if (!info().features.texture_views) GTEST_SKIP() << "no textures over buffers";
    pitch_ = smallest_view_pitch(info(), format(), kExtent.width);
    const std::uint64_t base =
        std::lcm(limits().view_base_alignment * texel(), limits().buffer_offset_alignment);
    const std::uint64_t size = pitch_ * kExtent.height;
    second_ = first_ + (size + base - 1) / base * base;
    arena_.assign(second_ + size, kSentinel);
    const Bytes noise = random_bytes(size, 7);
    // Any group of these bytes is a normal number, in every format.
    for (std::size_t i = 0; i < size; ++i)
      arena_[i] = (noise[i] & std::byte{0x07}) | std::byte{0x38};
    buffer_ = make_buffer(arena_);
    for (const std::uint64_t offset : {first_, second_}) {
      const auto view = device().allocator()->create_view(
          buffer_, {.texture = {.extent = kExtent, .format = format()}, .offset = offset});
      TL_ASSERT_OK(view.status());
      views_.push_back(*view);
    }
  }

  Status copy(CommandBuffer& commands, const Binding& from, const Binding& to) {
    return commands.dispatch(executable(kernels::copy_texels(format())), 0,
                             {kExtent.width, kExtent.height, 1}, std::array{from, to}, {});
  }
  // Expects that the second view has the texels of the first view.
  void expect_copied() {
    blit(arena_, pitch_, first_, arena_, pitch_, {0, 0, kExtent.width * texel(), kExtent.height},
         second_);
    expect_content(buffer_, arena_);
  }

  static constexpr Extent2D kExtent = {61, 40};
  static constexpr std::uint64_t first_ = 0;
  std::uint64_t pitch_ = 0;
  std::uint64_t second_ = 0;
  Bytes arena_;
  std::shared_ptr<Buffer> buffer_;
  std::vector<std::shared_ptr<Texture>> views_;
};
TL_ON_EVERY_TEXTURE(DisjointViews);

// One kernel reads the first view and writes the second; nothing else in the arena changes.
TEST_P(DisjointViews, AreReadAndWrittenByOneKernel) {
  const auto commands = begin();
  const Status recorded = copy(*commands, TextureBinding{views_[0]}, TextureBinding{views_[1]});
  if (!info().features.disjoint_views) {
    EXPECT_THAT(recorded, fails_with(StatusCode::Unimplemented, "are parts of one buffer"));
    return;
  }
  TL_ASSERT_OK(recorded);
  TL_ASSERT_OK(run(commands));
  expect_copied();
}
// A chain within the arena: each kernel reads the output of the previous kernel.
TEST_P(DisjointViews, TakeTurns) {
  if (!info().features.disjoint_views) GTEST_SKIP() << "no disjoint views";
  const auto commands = begin();
  const auto out = make_texture_full_of(kSentinel, kExtent, format());
  TL_ASSERT_OK(copy(*commands, TextureBinding{views_[0]}, TextureBinding{views_[1]}));
  TL_ASSERT_OK(commands->fill(buffer_, first_, pitch_ * kExtent.height, std::array{std::byte{0}}));
  TL_ASSERT_OK(copy(*commands, TextureBinding{views_[1]}, TextureBinding{views_[0]}));
  TL_ASSERT_OK(copy(*commands, TextureBinding{views_[0]}, TextureBinding{out}));
  TL_ASSERT_OK(run(commands));
  const std::size_t row = kExtent.width * texel();
  Bytes expected(row * kExtent.height);
  blit(arena_, pitch_, first_, expected, row, {0, 0, row, kExtent.height});
  expect_content(out, expected);
}
// One kernel may read a view and write other bytes of its buffer.
TEST_P(DisjointViews, GoWithOtherBytesOfTheirBuffer) {
  EntryPoint entry = kernels::read_texels(format());
  std::get<BufferParam>(entry.params[1]).min_bytes = 16;
  const auto part = buffer_->subspan(second_, 16);
  TL_ASSERT_OK(part.status());
  const std::array<Binding, 2> bindings = {TextureBinding{views_[0]}, BufferBinding{*part}};
  const std::array constants = {Constant(1)};
  const auto commands = begin();
  const Status recorded = commands->dispatch(executable(entry), 0, {1, 1, 1}, bindings, constants);
  if (!info().features.disjoint_views) {
    EXPECT_THAT(recorded, fails_with(StatusCode::Unimplemented, "are parts of one buffer"));
    return;
  }
  TL_ASSERT_OK(recorded);
  TL_ASSERT_OK(run(commands));
  const Bytes content = content_of(buffer_);
  expect_bytes(std::span(content).first(second_), std::span(arena_).first(second_));
}

class WithoutTextureViews : public On<> {};
TL_ON_EVERY_DEVICE(WithoutTextureViews);

TEST_P(WithoutTextureViews, TheyAreUnimplemented) {
  if (info().features.texture_views) GTEST_SKIP() << "the device has textures over buffers";
  const auto buffer = make_buffer(4096);
  EXPECT_EQ(
      device().allocator()->create_view(buffer, {.texture = {.extent = {4, 4}}}).status().code(),
      StatusCode::Unimplemented);
}

}  // namespace
}  // namespace texloom::hal::conformance
