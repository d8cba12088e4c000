// Tests copies between host memory and buffers, and between buffers. Every byte is compared, for
// many offsets and lengths, with sentinels around the data.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

// Lengths close to the widths at which drivers copy, and to the size of a page.
constexpr std::array<std::size_t, 16> kLengths = {1,  2,  3,  4,  5,   7,    8,    15,
                                                  16, 17, 31, 64, 255, 1021, 4096, 4099};
constexpr std::array<std::size_t, 6> kOffsets = {0, 1, 2, 3, 4, 61};

class BufferRanges : public On<std::size_t, std::size_t> {
 protected:
  std::size_t length() const { return parameter<0>(); }
  std::size_t offset() const { return parameter<1>(); }
  std::size_t size() const { return offset() + length() + 9; }
  // Returns sentinels with `data` at the offset.
  Bytes surrounded(std::span<const std::byte> data) const {
    Bytes bytes(size(), kSentinel);
    std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset()));
    return bytes;
  }
};
TL_ON_EVERY_DEVICE(BufferRanges, ::testing::ValuesIn(kLengths), ::testing::ValuesIn(kOffsets));

TEST_P(BufferRanges, AreUpdatedAlone) {
  const Bytes data = random_bytes(length(), 1);
  const auto buffer = make_buffer(Bytes(size(), kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, offset(), data));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, surrounded(data));
}

TEST_P(BufferRanges, AreReadAlone) {
  const Bytes data = random_bytes(length(), 2);
  const auto buffer = make_buffer(surrounded(data));
  Bytes read(length() + 2, kSentinel);
  const auto commands = begin();
  TL_ASSERT_OK(commands->readback(buffer, offset(), std::span(read).subspan(1, length())));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(read.front(), kSentinel);
  EXPECT_EQ(read.back(), kSentinel);
  expect_bytes(std::span(read).subspan(1, length()), data);
}

TEST_P(BufferRanges, AreCopiedFromAnyAlignment) {
  const Bytes data = random_bytes(length(), 3);
  const auto source = make_buffer(surrounded(data));
  const auto target = make_buffer(Bytes(length() + 8, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(source, offset(), target, 4, length()));
  TL_ASSERT_OK(run(commands));
  Bytes expected(length() + 8, kSentinel);
  std::copy(data.begin(), data.end(), expected.begin() + 4);
  expect_content(target, expected);
}

TEST_P(BufferRanges, AreCopiedToAnyAlignment) {
  const Bytes data = random_bytes(length() + 3, 4);
  const auto source = make_buffer(data);
  const auto target = make_buffer(Bytes(size(), kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(source, 3, target, offset(), length()));
  TL_ASSERT_OK(run(commands));
  expect_content(target, surrounded(std::span(data).subspan(3)));
}

class BufferCopies : public On<> {};
TL_ON_EVERY_DEVICE(BufferCopies);

TEST_P(BufferCopies, WithinOneBuffer) {
  const Bytes data = random_bytes(1000, 1);
  const auto buffer = make_buffer(data);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(buffer, 13, buffer, 601, 397));
  TL_ASSERT_OK(run(commands));
  Bytes expected = data;
  std::copy_n(data.begin() + 13, 397, expected.begin() + 601);
  expect_content(buffer, expected);
}

TEST_P(BufferCopies, BetweenNeighborsInOneBuffer) {
  Bytes data = random_bytes(64, 2);
  const auto buffer = make_buffer(data);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(buffer, 0, buffer, 32, 32));
  TL_ASSERT_OK(run(commands));
  std::copy_n(data.begin(), 32, data.begin() + 32);
  expect_content(buffer, data);
}

TEST_P(BufferCopies, OfAWholeBuffer) {
  const Bytes data = random_bytes(5000, 3);
  const auto source = make_buffer(data), target = make_buffer(5000);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(source, 0, target, 0, 5000));
  TL_ASSERT_OK(run(commands));
  expect_content(target, data);
  expect_content(source, data, "the source");
}

TEST_P(BufferCopies, OfMebibytes) {
  const Bytes data = random_bytes((1 << 22) + 5, 4);
  const auto source = make_buffer(data), target = make_buffer(data.size());
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(source, 1, target, 3, data.size() - 3));
  TL_ASSERT_OK(commands->copy_buffer(source, 0, target, 0, 3));
  TL_ASSERT_OK(run(commands));
  Bytes expected(data.begin(), data.begin() + 3);
  expected.insert(expected.end(), data.begin() + 1, data.end() - 2);
  expect_content(target, expected);
}

// Each pair of ranges has a buffer and one command; all commands are in one command buffer.
TEST_P(BufferCopies, ManyInOneCommandBuffer) {
  const Bytes data = random_bytes(1024, 5);
  const auto source = make_buffer(data), target = make_buffer(Bytes(1024, kSentinel));
  const auto commands = begin();
  for (std::uint64_t i = 0; i < 64; ++i)
    TL_ASSERT_OK(commands->copy_buffer(source, 16 * i, target, 16 * (63 - i), 15));
  TL_ASSERT_OK(run(commands));
  Bytes expected(1024, kSentinel);
  for (std::ptrdiff_t i = 0; i < 64; ++i)
    std::copy_n(data.begin() + 16 * i, 15, expected.begin() + 16 * (63 - i));
  expect_content(target, expected);
}

class Updates : public On<> {};
TL_ON_EVERY_DEVICE(Updates);

TEST_P(Updates, KeepTheirCopyUntilTheyRun) {
  Bytes data = random_bytes(77, 2);
  const Bytes original = data;
  const auto buffer = make_buffer(77);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, 0, data));
  std::fill(data.begin(), data.end(), std::byte{0});
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, original);
}

TEST_P(Updates, OfBorrowedMemory) {
  const Bytes data = random_bytes(77, 3);
  const auto buffer = make_buffer(77);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, 0, data, HostMemory::Borrowed));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, data);
}

TEST_P(Updates, TheLaterOneOfTwoCounts) {
  const auto buffer = make_buffer(16);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, 0, Bytes(16, std::byte{1})));
  TL_ASSERT_OK(commands->update(buffer, 4, Bytes(4, std::byte{2})));
  TL_ASSERT_OK(run(commands));
  Bytes expected(16, std::byte{1});
  std::fill_n(expected.begin() + 4, 4, std::byte{2});
  expect_content(buffer, expected);
}

// Adjacent updates each write their own bytes, even if a driver joins them.
TEST_P(Updates, ManySmallOnesSideBySide) {
  const Bytes data = random_bytes(600, 6);
  const auto buffer = make_buffer(Bytes(600, kSentinel));
  const auto commands = begin();
  for (std::size_t at = 0; at < 600; at += 6)
    TL_ASSERT_OK(commands->update(buffer, at, std::span(data).subspan(at, 6)));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, data);
}

TEST_P(Updates, SmallOnesWithGapsBetween) {
  const Bytes data = random_bytes(600, 7);
  const auto buffer = make_buffer(Bytes(600, kSentinel));
  const auto commands = begin();
  Bytes expected(600, kSentinel);
  for (std::size_t at = 0; at < 600; at += 6) {
    TL_ASSERT_OK(commands->update(buffer, at, std::span(data).subspan(at, 5)));
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), 5,
                expected.begin() + static_cast<std::ptrdiff_t>(at));
  }
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, expected);
}

TEST_P(Updates, AreSeenByTheReadbackAfterThem) {
  const Bytes data = random_bytes(33, 8);
  Bytes read(33);
  const auto buffer = make_buffer(64);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, 31, data));
  TL_ASSERT_OK(commands->readback(buffer, 31, read));
  TL_ASSERT_OK(run(commands));
  expect_bytes(read, data);
}

// A later update does not change what an earlier readback sees.
TEST_P(Updates, AfterAReadbackAreNotSeenByIt) {
  Bytes read(16);
  const auto buffer = make_buffer(Bytes(16, std::byte{1}));
  const auto commands = begin();
  TL_ASSERT_OK(commands->readback(buffer, 0, read));
  TL_ASSERT_OK(commands->update(buffer, 0, Bytes(16, std::byte{2})));
  TL_ASSERT_OK(run(commands));
  expect_bytes(read, Bytes(16, std::byte{1}));
  expect_content(buffer, Bytes(16, std::byte{2}));
}

}  // namespace
}  // namespace texloom::hal::conformance
