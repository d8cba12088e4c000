// Tests fills with patterns of 1, 2 and 4 bytes, for many offsets and lengths, between sentinels.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

constexpr std::array kPattern = {std::byte{0x12}, std::byte{0x34}, std::byte{0x56},
                                 std::byte{0x78}};

// Returns sentinels with `length` bytes of the pattern at `offset`.
Bytes filled(std::size_t size, std::size_t offset, std::size_t length, std::size_t pattern_bytes) {
  Bytes bytes(size, kSentinel);
  for (std::size_t i = 0; i < length; ++i) bytes[offset + i] = kPattern[i % pattern_bytes];
  return bytes;
}

class Fills : public On<std::size_t, std::size_t, std::size_t> {
 protected:
  std::size_t pattern_bytes() const { return parameter<0>(); }
  std::size_t length() const { return parameter<1>(); }
  std::size_t offset() const { return parameter<2>(); }
};
TL_ON_EVERY_DEVICE(Fills, ::testing::Values(1, 2, 4),
                   ::testing::Values(1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 255, 1021, 4096, 4099),
                   ::testing::Values(0, 1, 2, 3, 4, 61));

TEST_P(Fills, WriteTheirRangeAlone) {
  const std::size_t size = offset() + length() + 9;
  const auto buffer = make_buffer(Bytes(size, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(
      commands->fill(buffer, offset(), length(), std::span(kPattern).first(pattern_bytes())));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, filled(size, offset(), length(), pattern_bytes()));
}

class FillCommands : public On<> {
 protected:
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }
};
TL_ON_EVERY_DEVICE(FillCommands);

TEST_P(FillCommands, OfAWholeBuffer) {
  const auto buffer = make_buffer(Bytes(1001, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->fill(buffer, 0, 1001, kPattern));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, filled(1001, 0, 1001, 4));
}
TEST_P(FillCommands, OfMebibytes) {
  constexpr std::size_t kSize = (1 << 22) + 3;
  const auto buffer = make_buffer(kSize);
  const auto commands = begin();
  TL_ASSERT_OK(commands->fill(buffer, 0, kSize, kPattern));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, filled(kSize, 0, kSize, 4));
}
TEST_P(FillCommands, OfTheLastByte) {
  const auto buffer = make_buffer(Bytes(13, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->fill(buffer, 12, 1, kPattern));
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, filled(13, 12, 1, 4));
}
TEST_P(FillCommands, SideBySide) {
  const auto buffer = make_buffer(Bytes(64, kSentinel));
  const auto commands = begin();
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::array pattern = {static_cast<std::byte>(i)};
    TL_ASSERT_OK(commands->fill(buffer, 7 * i, 7, pattern));
  }
  TL_ASSERT_OK(run(commands));
  Bytes expected(64, kSentinel);
  for (std::size_t i = 0; i < 56; ++i) expected[i] = static_cast<std::byte>(i / 7);
  expect_content(buffer, expected);
}
TEST_P(FillCommands, OverEachOther) {
  const auto buffer = make_buffer(64);
  const auto commands = begin();
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::array pattern = {static_cast<std::byte>(i)};
    TL_ASSERT_OK(commands->fill(buffer, 8 * i, 64 - 8 * i, pattern));
  }
  TL_ASSERT_OK(run(commands));
  Bytes expected(64);
  for (std::size_t i = 0; i < 64; ++i) expected[i] = static_cast<std::byte>(i / 8);
  expect_content(buffer, expected);
}
TEST_P(FillCommands, BeforeAnUpdateAndACopy) {
  const auto buffer = make_buffer(32), copy = make_buffer(32);
  const auto commands = begin();
  TL_ASSERT_OK(commands->fill(buffer, 0, 32, std::array{std::byte{1}}));
  TL_ASSERT_OK(commands->update(buffer, 5, Bytes(3, std::byte{2})));
  TL_ASSERT_OK(commands->copy_buffer(buffer, 0, copy, 0, 32));
  TL_ASSERT_OK(commands->fill(buffer, 0, 32, std::array{std::byte{3}}));
  TL_ASSERT_OK(run(commands));
  Bytes expected(32, std::byte{1});
  std::fill_n(expected.begin() + 5, 3, std::byte{2});
  expect_content(copy, expected);
  expect_content(buffer, Bytes(32, std::byte{3}));
}
TEST_P(FillCommands, OfNoBytesAreLeftOut) {
  const auto buffer = make_buffer(Bytes(8, kSentinel));
  const auto commands = begin();
  TL_ASSERT_OK(commands->fill(buffer, 8, 0, kPattern));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(run(commands));
  expect_content(buffer, Bytes(8, kSentinel));
}
TEST_P(FillCommands, OfNothingAreRefused) {
  EXPECT_THAT(begin()->fill(nullptr, 0, 4, kPattern), refused("fill: the target is null"));
}
TEST_P(FillCommands, PastTheEndAreRefused) {
  const auto buffer = make_buffer(16);
  EXPECT_THAT(begin()->fill(buffer, 9, 8, kPattern), refused("wanted 8 at offset 9"));
  EXPECT_THAT(begin()->fill(buffer, ~std::uint64_t{0}, 8, kPattern), refused("16 bytes"));
}
TEST_P(FillCommands, WithoutTheUsageAreRefused) {
  EXPECT_THAT(begin()->fill(make_buffer(16, BufferUsage::Storage), 0, 4, kPattern),
              refused("usage"));
}
TEST_P(FillCommands, OfPatternsOfOtherSizesAreRefused) {
  const auto buffer = make_buffer(16);
  for (const std::size_t bytes : {0, 3})
    EXPECT_THAT(begin()->fill(buffer, 0, 12, std::span(kPattern).first(bytes)),
                refused("1, 2 or 4 bytes, not " + std::to_string(bytes)));
  EXPECT_THAT(begin()->fill(buffer, 0, 12, Bytes(8)), refused("not 8"));
}
TEST_P(FillCommands, AfterTheEndOfRecordingAreRefused) {
  const auto buffer = make_buffer(16);
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(commands->fill(buffer, 0, 12, kPattern), refused("finished"));
}

}  // namespace
}  // namespace texloom::hal::conformance
