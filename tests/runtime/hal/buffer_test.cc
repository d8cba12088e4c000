// Buffers: creation, and the copies between host and buffers to the byte.
#include <limits>

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

class BufferTest : public OpenClTest {};

// Sizes around powers of two, and odd offsets; the bytes around the range keep their old value.
TEST_F(BufferTest, UpdateAndReadbackTouchTheirRangeOnly) {
  constexpr std::byte kSentinel{0xa5};
  for (const std::size_t size : {1, 2, 3, 5, 63, 64, 65, 1021, 4099}) {
    for (const std::size_t offset : {0, 1, 7, 64}) {
      const Bytes data = random_bytes(size, static_cast<unsigned>(size * 131 + offset));
      Bytes expected(size + offset + 9, kSentinel);
      const auto buffer = make_buffer(expected);
      TL_ASSERT_OK(write_buffer(*device_, buffer, offset, data));
      Bytes part(size + 2, kSentinel);
      TL_ASSERT_OK(read_buffer(*device_, buffer, offset, std::span(part).subspan(1, size)));
      EXPECT_EQ(part.front(), kSentinel);
      EXPECT_EQ(part.back(), kSentinel);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), part.begin() + 1));
      std::copy(data.begin(), data.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(content_of(buffer), expected) << size << " bytes at " << offset;
    }
  }
}

TEST_F(BufferTest, CopyBetweenAndWithinBuffers) {
  const Bytes data = random_bytes(1000, 1);
  const auto source = make_buffer(data);
  const auto target = make_buffer(Bytes(1000, std::byte{0}));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_buffer(source, 13, target, 401, 397));
  TL_ASSERT_OK(commands->copy_buffer(target, 401, target, 0, 397));
  TL_ASSERT_OK(run(commands));
  Bytes expected(1000, std::byte{0});
  std::copy_n(data.begin() + 13, 397, expected.begin() + 401);
  std::copy_n(data.begin() + 13, 397, expected.begin());
  EXPECT_EQ(content_of(target), expected);
}

TEST_F(BufferTest, UpdateKeepsItsCopyUntilItRuns) {
  Bytes data = random_bytes(77, 2);
  const Bytes original = data;
  const auto buffer = make_buffer(77);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->update(buffer, 0, data));
  std::fill(data.begin(), data.end(), std::byte{0});
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(content_of(buffer), original);
}

TEST_F(BufferTest, CommandsThatMoveNothingAreLeftOut) {
  const auto buffer = make_buffer(8);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->update(buffer, 8, {}));
  TL_ASSERT_OK(commands->readback(buffer, 8, {}));
  TL_ASSERT_OK(commands->copy_buffer(buffer, 0, buffer, 0, 0));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(run(commands));
}

TEST_F(BufferTest, SizesThatNoBufferHasAreRefused) {
  EXPECT_THAT(device_->create_buffer({.bytes = 0}).status(),
              fails_with(StatusCode::InvalidArgument, "zero bytes"));
  const std::uint64_t over = device_->info().limits.max_allocation_bytes + 1;
  EXPECT_THAT(device_->create_buffer({.bytes = over}).status(),
              fails_with(StatusCode::InvalidArgument, "over the limit"));
}

TEST_F(BufferTest, MisuseIsRefusedAndLeavesTheCommandBufferUsable) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const auto buffer = make_buffer(16);
  const auto mute = make_buffer(16, BufferUsage::Storage);
  const auto commands = device_->create_command_buffer();
  Bytes data(8);
  const auto refused = [](const char* part) {
    return fails_with(StatusCode::InvalidArgument, std::string(part));
  };
  EXPECT_THAT(commands->update(nullptr, 0, data), refused("update: the target is null"));
  EXPECT_THAT(commands->update(buffer, 9, data), refused("16 bytes, wanted 8 at offset 9"));
  EXPECT_THAT(commands->update(buffer, kMax, data), refused("update: the target has 16 bytes"));
  EXPECT_THAT(commands->update(mute, 0, data), refused("usage"));
  EXPECT_THAT(commands->readback(nullptr, 0, data), refused("readback: the source is null"));
  EXPECT_THAT(commands->readback(buffer, 17, {}), refused("at offset 17"));
  EXPECT_THAT(commands->readback(mute, 0, data), refused("usage"));
  EXPECT_THAT(commands->copy_buffer(buffer, 0, nullptr, 0, 1), refused("the target is null"));
  EXPECT_THAT(commands->copy_buffer(mute, 0, buffer, 0, 1), refused("the source was made"));
  EXPECT_THAT(commands->copy_buffer(buffer, 0, mute, 0, 1), refused("the target was made"));
  EXPECT_THAT(commands->copy_buffer(buffer, 12, buffer, 0, 5), refused("the source has 16"));
  EXPECT_THAT(commands->copy_buffer(buffer, 0, buffer, 12, 5), refused("the target has 16"));
  EXPECT_THAT(commands->copy_buffer(buffer, 0, buffer, 4, 5), refused("overlap"));
  TL_ASSERT_OK(commands->copy_buffer(buffer, 0, buffer, 5, 5));
  EXPECT_EQ(commands->segments().size(), 1u);
  TL_ASSERT_OK(run(commands));
}

TEST_F(BufferTest, ObjectsOfAnotherDeviceAreRefused) {
  const Result<std::shared_ptr<Device>> other = driver_->open(0);
  ASSERT_TRUE(other.ok());
  const auto buffer = make_buffer(16);
  const auto commands = (*other)->create_command_buffer();
  EXPECT_THAT(commands->update(buffer, 0, Bytes(4)),
              fails_with(StatusCode::InvalidArgument, "belongs to another device"));
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(device_->queue()->submit(commands),
              fails_with(StatusCode::InvalidArgument, "belongs to another device"));
}

}  // namespace
}  // namespace texloom::hal
