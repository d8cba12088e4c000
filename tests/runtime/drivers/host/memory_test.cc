// Tests the memory of the CPU driver: fills, copies, mappings, views and imports.
#include <array>
#include <string>
#include <vector>

#include "runtime/drivers/host/driver.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::host {
namespace {

class HostMemoryTest : public DeviceTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    driver_ = create_driver({.threads = GetParam()});
    auto device = driver_->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, HostMemoryTest, ::testing::Values(1U, 4U),
                         [](const auto& param) { return std::to_string(param.param); });

// Patterns at any offset and of any length change nothing around them.
TEST_P(HostMemoryTest, FillsAreExact) {
  const std::array pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  for (const std::size_t size : {1U, 2U, 4U}) {
    for (const std::size_t bytes : {1U, 3U, 4U, 7U, 61U, 4099U}) {
      const auto buffer = make_buffer(Bytes(bytes + 12, std::byte{0xee}));
      const auto commands = device_->create_command_buffer();
      TL_ASSERT_OK(commands->fill(buffer, 5, bytes, std::span(pattern).first(size)));
      TL_ASSERT_OK(run(commands));
      Bytes expected(bytes + 12, std::byte{0xee});
      for (std::size_t i = 0; i < bytes; ++i) expected[5 + i] = pattern[i % size];
      EXPECT_EQ(content_of(buffer), expected) << size << " " << bytes;
    }
  }
}

// Copies are exact to the byte, for every format, between buffers with gaps and textures.
TEST_P(HostMemoryTest, CopiesOfTexturesKeepOriginsAndPitches) {
  for (const TexelFormat format : kAllTexelFormats) {
    const std::size_t texel = bytes_per_texel(format);
    const std::size_t pitch = 3 * texel + 5;
    const Bytes data = random_bytes(7 + 2 * pitch, 1);
    const auto source = make_buffer(data);
    const auto first = make_texture_full_of(std::byte{0xff}, {5, 4}, format);
    const auto second = make_texture_full_of(std::byte{0xff}, {4, 6}, format);
    const auto target = make_buffer(Bytes(7 + 2 * pitch, std::byte{0xee}));
    const BufferTextureRegion rows{
        .origin = {1, 2}, .extent = {3, 2}, .buffer_offset = 7, .row_pitch = pitch};
    BufferTextureRegion moved = rows;
    moved.origin = {0, 4};
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->copy_buffer_to_texture(source, first, rows));
    TL_ASSERT_OK(commands->copy_texture(first, {1, 2}, second, {0, 4}, {3, 2}));
    TL_ASSERT_OK(commands->copy_texture_to_buffer(second, target, moved));
    TL_ASSERT_OK(run(commands));
    Bytes expected(7 + 2 * pitch, std::byte{0xee});
    for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) {
      for (std::size_t i = 0; i < 3 * texel; ++i)
        expected[7 + row * pitch + i] = data[7 + row * pitch + i];
    }
    EXPECT_EQ(content_of(target), expected) << to_string(format);
    const Bytes texels = content_of(second);
    EXPECT_EQ(texels[3 * texel], std::byte{0xff});
    EXPECT_EQ(texels[4 * 4 * texel - 1], std::byte{0xff});
  }
}

TEST_P(HostMemoryTest, BuffersAreCopiedAtAnyOffset) {
  const Bytes data = random_bytes(64, 2);
  const auto source = make_buffer(data);
  const auto target = make_buffer(Bytes(64, std::byte{0}));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_buffer(source, 3, target, 17, 29));
  TL_ASSERT_OK(run(commands));
  Bytes expected(64, std::byte{0});
  std::copy_n(data.begin() + 3, 29, expected.begin() + 17);
  EXPECT_EQ(content_of(target), expected);
}

// A buffer that stays mapped, a texture over a part of it, and imported memory all refer to the
// same bytes.
TEST_P(HostMemoryTest, MappingsViewsAndImports) {
  const auto buffer = *device_->create_buffer({.bytes = 256, .memory = MemoryKind::Shared});
  auto mapping = buffer->map(Access::ReadWrite);
  ASSERT_TRUE(mapping.ok()) << mapping.status().to_string();
  const std::span<std::byte> bytes = mapping->bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  const auto view = device_->allocator()->create_view(
      buffer, {.texture = {.extent = {2, 3}, .format = TexelFormat::Rgba8UInt},
               .offset = 16,
               .row_pitch = 20});
  ASSERT_TRUE(view.ok()) << view.status().to_string();
  alignas(16) std::array<std::byte, 32> own = {};
  own.fill(std::byte{7});
  own[0] = std::byte{9};
  bool released = false;
  auto imported =
      device_->allocator()->import({.memory = own, .release = [&released] { released = true; }});
  ASSERT_TRUE(imported.ok()) << imported.status().to_string();
  auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(
      *imported, *view, {.origin = {1, 1}, .extent = {1, 2}, .buffer_offset = 3}));
  TL_ASSERT_OK(commands->copy_buffer(buffer, 41, *imported, 0, 1));
  TL_ASSERT_OK(run(commands));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool written = (i >= 40 && i < 44) || (i >= 60 && i < 64);
    EXPECT_EQ(bytes[i], std::byte{written ? std::uint8_t{7} : std::uint8_t{0}}) << i;
  }
  EXPECT_EQ(own[0], std::byte{7});
  commands.reset();
  *imported = nullptr;
  EXPECT_TRUE(released);
}

// A kernel may access a buffer's contents as any number type, so the address must be aligned.
TEST_P(HostMemoryTest, OddAddressesAreNotImported) {
  alignas(16) std::array<std::byte, 64> own = {};
  const std::span<std::byte> memory = own;
  for (const std::size_t offset : {1U, 4U, 8U})
    EXPECT_THAT(device_->allocator()->import({.memory = memory.subspan(offset)}).status(),
                fails_with(StatusCode::InvalidArgument, "requires a multiple of 16 bytes"));
  TL_EXPECT_OK(device_->allocator()->import({.memory = memory.subspan(16, 3)}).status());
}

}  // namespace
}  // namespace texloom::hal::host
