// Tests the kinds of memory, and buffers that the host maps.
#include "tests/conformance/fixture.h"

namespace texloom::hal {
inline void PrintTo(MemoryKind kind, std::ostream* stream) { *stream << to_string(kind); }
}  // namespace texloom::hal

namespace texloom::hal::conformance {
namespace {

class MemoryKinds : public On<MemoryKind> {
 protected:
  void SetUp() override {
    On::SetUp();
    if (IsSkipped()) return;
    if (!kind_info().available) GTEST_SKIP() << "no " << to_string(kind()) << " memory";
  }
  MemoryKind kind() const { return parameter<0>(); }
  const MemoryKindInfo& kind_info() { return info().memory(kind()); }
  std::shared_ptr<Buffer> make(std::uint64_t bytes) {
    auto made = device().create_buffer({.bytes = bytes, .memory = kind()});
    TL_EXPECT_OK(made.status());
    return made.ok() ? *made : nullptr;
  }
  // Runs a kernel that sets each of eight uint32 of a buffer to 5.
  Status advance_from_zero(const std::shared_ptr<Buffer>& buffer) {
    const auto commands = begin();
    const std::array<Binding, 1> bindings = {BufferBinding{buffer}};
    const std::array constants = {Constant(5)};
    TL_RETURN_IF_ERROR(commands->update(buffer, 0, Bytes(32, std::byte{0})));
    TL_RETURN_IF_ERROR(
        commands->dispatch(executable(kernels::advance()), 0, {8, 1, 1}, bindings, constants));
    return run(commands);
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }
};
TL_ON_EVERY_DEVICE(MemoryKinds, ::testing::ValuesIn(kAllMemoryKinds));

TEST_P(MemoryKinds, AreKeptInTheDescription) { EXPECT_EQ(make(64)->desc().memory, kind()); }
TEST_P(MemoryKinds, AreAllWrittenAndReadByCommands) {
  const Bytes data = random_bytes(77, 1);
  const auto buffer = make(77);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, data));
  expect_content(buffer, data);
}
TEST_P(MemoryKinds, AreAllUsedByKernels) {
  const auto buffer = make(32);
  TL_ASSERT_OK(advance_from_zero(buffer));
  expect_values(buffer, std::vector<std::uint32_t>(8, 5));
}
TEST_P(MemoryKinds, ThatAreNotMappableAreNotMapped) {
  if (kind_info().mappable) GTEST_SKIP() << "the memory is mappable";
  EXPECT_THAT(make(64)->map(Access::Read).status(),
              refused(fmt::format("\"{}\" cannot be mapped", to_string(kind()))));
}

class Mappings : public MemoryKinds {
 protected:
  void SetUp() override {
    MemoryKinds::SetUp();
    if (!IsSkipped() && !kind_info().mappable)
      GTEST_SKIP() << to_string(kind()) << " memory is not mappable";
  }
  Mapping map(const std::shared_ptr<Buffer>& buffer, Access access) {
    auto mapping = buffer->map(access);
    TL_EXPECT_OK(mapping.status());
    return mapping.ok() ? std::move(*mapping) : Mapping();
  }
};
TL_ON_EVERY_DEVICE(Mappings, ::testing::ValuesIn(kAllMemoryKinds));

TEST_P(Mappings, ShowWhatTheDeviceHas) {
  const Bytes data = random_bytes(100, 1);
  const auto buffer = make(100);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, data));
  Mapping mapping = map(buffer, Access::Read);
  expect_bytes(mapping.bytes(), data);
  TL_ASSERT_OK(mapping.release());
}
TEST_P(Mappings, GiveTheDeviceWhatTheHostWrites) {
  const Bytes data = random_bytes(100, 2);
  const auto buffer = make(100);
  Mapping mapping = map(buffer, Access::Write);
  std::copy(data.begin(), data.end(), mapping.bytes().begin());
  TL_ASSERT_OK(mapping.release());
  expect_content(buffer, data);
}
TEST_P(Mappings, ForBothKeepWhatTheHostLeaves) {
  Bytes data = random_bytes(100, 3);
  const auto buffer = make(100);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, data));
  Mapping mapping = map(buffer, Access::ReadWrite);
  ASSERT_EQ(mapping.bytes().size(), 100U);
  mapping.bytes()[50] = data[50] = kSentinel;
  TL_ASSERT_OK(mapping.release());
  expect_content(buffer, data);
}
// The pattern reveals bytes that the host did not write, even if the device keeps old contents.
TEST_P(Mappings, ForWriteAreFullOfAPatternInDebugMode) {
  use(open_another({.debug = true}));
  const auto buffer = make(16);
  {
    const Mapping all = map(buffer, Access::Write);
    std::fill(all.bytes().begin(), all.bytes().end(), std::byte{1});
  }
  map(buffer, Access::Write).bytes()[0] = std::byte{2};
  Bytes expected(16, std::byte{0xcd});
  expected[0] = std::byte{2};
  expect_bytes(map(buffer, Access::Read).bytes(), expected);
}
TEST_P(Mappings, OfAPartReachItAlone) {
  Bytes expected(100, kSentinel);
  const auto buffer = make(100);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, expected));
  auto mapping = buffer->map(33, 10, Access::Write);
  TL_ASSERT_OK(mapping.status());
  ASSERT_EQ(mapping->bytes().size(), 10U);
  std::fill(mapping->bytes().begin(), mapping->bytes().end(), std::byte{7});
  TL_ASSERT_OK(mapping->release());
  std::fill_n(expected.begin() + 33, 10, std::byte{7});
  expect_content(buffer, expected);
}
TEST_P(Mappings, OfAPartShowWhatIsInIt) {
  Bytes content(100);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i);
  const auto buffer = make(100);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, content));
  for (const std::size_t offset : {0, 33, 96}) {
    const auto mapping = buffer->map(offset, 3, Access::Read);
    TL_ASSERT_OK(mapping.status());
    expect_bytes(mapping->bytes(), Bytes(content.begin() + offset, content.begin() + offset + 3));
  }
}
TEST_P(Mappings, AreReleasedByTheirEnd) {
  const auto buffer = make(16);
  {
    Mapping mapping = map(buffer, Access::Write);
    std::fill(mapping.bytes().begin(), mapping.bytes().end(), std::byte{5});
  }
  expect_content(buffer, Bytes(16, std::byte{5}));
  TL_ASSERT_OK(map(buffer, Access::Write).release());
}
TEST_P(Mappings, AreReleasedOnce) {
  const auto buffer = make(16);
  Mapping mapping = map(buffer, Access::Read);
  TL_ASSERT_OK(mapping.release());
  EXPECT_TRUE(mapping.bytes().empty());
  TL_ASSERT_OK(mapping.release());
}
TEST_P(Mappings, ThatAreMovedAreOne) {
  const auto buffer = make(16);
  Mapping first = map(buffer, Access::ReadWrite);
  const Mapping second = std::move(first);
  EXPECT_EQ(second.bytes().size(), 16U);
  EXPECT_EQ(second.as<std::uint32_t>().size(), 4U);
  EXPECT_EQ(buffer->map(Access::ReadWrite).status().code(), StatusCode::InvalidArgument);
}
TEST_P(Mappings, MayBothRead) {
  const auto buffer = make(16);
  Mapping first = map(buffer, Access::Read), second = map(buffer, Access::Read);
  EXPECT_EQ(first.bytes().size() + second.bytes().size(), 32U);
  EXPECT_THAT(buffer->map(Access::Write).status(), refused("mapped for read"));
  TL_ASSERT_OK(first.release());
  EXPECT_THAT(buffer->map(Access::Write).status(), refused("mapped for read"));
  TL_ASSERT_OK(second.release());
  TL_EXPECT_OK(buffer->map(Access::Write).status());
}
TEST_P(Mappings, OfDifferentPartsMayBothWrite) {
  const auto buffer = make(32);
  TL_ASSERT_OK(write_buffer(device(), buffer, 0, Bytes(32, kSentinel)));
  auto first = buffer->map(0, 8, Access::Write), second = buffer->map(8, 8, Access::Write);
  TL_ASSERT_OK(first.status());
  TL_ASSERT_OK(second.status());
  std::fill(first->bytes().begin(), first->bytes().end(), std::byte{1});
  std::fill(second->bytes().begin(), second->bytes().end(), std::byte{2});
  TL_ASSERT_OK(first->release());
  TL_ASSERT_OK(second->release());
  Bytes expected(32, kSentinel);
  std::fill_n(expected.begin(), 8, std::byte{1});
  std::fill_n(expected.begin() + 8, 8, std::byte{2});
  expect_content(buffer, expected);
}
TEST_P(Mappings, ThatMeetWhileOneWritesAreRefused) {
  const auto buffer = make(32);
  const auto first = buffer->map(0, 16, Access::Write);
  TL_ASSERT_OK(first.status());
  EXPECT_THAT(buffer->map(15, 4, Access::Read).status(),
              refused("map: 4 bytes at offset 15 for read, while 16 at 0 are mapped for write"));
  TL_EXPECT_OK(buffer->map(16, 4, Access::Read).status());
}
TEST_P(Mappings, OfNoBytesAreRefused) {
  EXPECT_THAT(make(16)->map(0, 0, Access::Read).status(), refused("map: zero bytes"));
}
TEST_P(Mappings, PastTheEndAreRefused) {
  const auto buffer = make(16);
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{9, 8}, {16, 1}, {~std::uint64_t{0}, 2}})
    EXPECT_THAT(
        buffer->map(offset, bytes, Access::Read).status(),
        refused(fmt::format("{} bytes at offset {}, but the buffer has 16", bytes, offset)));
  TL_EXPECT_OK(buffer->map(Access::Read).status());
}
TEST_P(Mappings, KeepTheirBuffer) {
  auto buffer = make(16);
  const std::weak_ptr<Buffer> watched = buffer;
  {
    const Mapping mapping = map(buffer, Access::ReadWrite);
    buffer.reset();
    EXPECT_FALSE(watched.expired());
    mapping.bytes()[0] = std::byte{1};
  }
  EXPECT_TRUE(watched.expired());
}
TEST_P(Mappings, AreMadeAgainAndAgain) {
  const auto buffer = make(4);
  for (std::uint32_t i = 0; i < 50; ++i) {
    Mapping mapping = map(buffer, Access::Write);
    mapping.as<std::uint32_t>()[0] = i;
    TL_ASSERT_OK(mapping.release());
    expect_values<std::uint32_t>(buffer, {i});
  }
}
TEST_P(Mappings, OfWhatAKernelWrote) {
  const auto buffer = make(32);
  TL_ASSERT_OK(advance_from_zero(buffer));
  const Mapping mapping = map(buffer, Access::Read);
  expect_bytes(mapping.bytes(), bytes_of(std::vector<std::uint32_t>(8, 5)));
}
// Host and device take turns with one mapping.
TEST_P(Mappings, ThatPersistAreUsedWhileTheDeviceWorks) {
  if (!kind_info().persistent) GTEST_SKIP() << "mappings end before work is submitted";
  const auto buffer = make(4);
  Mapping mapping = map(buffer, Access::ReadWrite);
  const auto advance = executable(kernels::advance());
  for (std::uint32_t i = 0; i < 5; ++i) {
    mapping.as<std::uint32_t>()[0] = i;
    TL_ASSERT_OK(mapping.flush(0, 4));
    const auto commands = begin();
    const std::array<Binding, 1> bindings = {BufferBinding{buffer}};
    const std::array constants = {Constant(1)};
    TL_ASSERT_OK(commands->dispatch(advance, 0, {1, 1, 1}, bindings, constants));
    TL_ASSERT_OK(run(commands));
    TL_ASSERT_OK(mapping.invalidate(0, 4));
    expect_bytes(mapping.bytes(), bytes_of(std::vector<std::uint32_t>{3 * i + 1}));
  }
}
TEST_P(Mappings, FlushAndInvalidateWithinTheirRangeAlone) {
  if (!kind_info().persistent) GTEST_SKIP() << "mappings end before work is submitted";
  const auto buffer = make(16);
  Mapping mapping = map(buffer, Access::ReadWrite);
  EXPECT_THAT(mapping.flush(9, 8), refused("flush: 8 bytes at offset 9, but the mapping has 16"));
  EXPECT_THAT(mapping.invalidate(17, 1), refused("invalidate: 1 bytes at offset 17"));
  TL_EXPECT_OK(mapping.flush(16, 0));
  TL_EXPECT_OK(mapping.flush(8, 8));
  TL_EXPECT_OK(mapping.invalidate(0, 16));
}
TEST_P(Mappings, OfOneAccessAloneDoNotFlushOrInvalidate) {
  const auto buffer = make(16);
  Mapping reading = map(buffer, Access::Read);
  EXPECT_THAT(reading.flush(0, 4), refused("flush: the range is mapped for read"));
  TL_ASSERT_OK(reading.release());
  EXPECT_THAT(reading.invalidate(0, 4), refused("invalidate: the mapping is released"));
  Mapping writing = map(buffer, Access::Write);
  EXPECT_THAT(writing.invalidate(0, 4), refused("invalidate: the range is mapped for write"));
}

class MissingMemoryKinds : public On<MemoryKind> {};
TL_ON_EVERY_DEVICE(MissingMemoryKinds, ::testing::ValuesIn(kAllMemoryKinds));

TEST_P(MissingMemoryKinds, AreUnimplemented) {
  if (info().memory(parameter<0>()).available) GTEST_SKIP() << "the device has the memory";
  EXPECT_EQ(device().create_buffer({.bytes = 4, .memory = parameter<0>()}).status().code(),
            StatusCode::Unimplemented);
}
TEST_P(MissingMemoryKinds, OfTexturesAreAllButTheDevicesOwn) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const auto made = device().create_texture({.extent = {4, 4}, .memory = parameter<0>()});
  if (parameter<0>() != MemoryKind::Device) {
    EXPECT_EQ(made.status().code(), StatusCode::Unimplemented);
    return;
  }
  TL_ASSERT_OK(made.status());
  EXPECT_EQ((*made)->desc().memory, MemoryKind::Device);
}
TEST_P(MissingMemoryKinds, AreNeitherMappableNorPersistent) {
  const MemoryKindInfo& kind = info().memory(parameter<0>());
  EXPECT_TRUE(kind.available || !kind.mappable);
  EXPECT_TRUE(kind.mappable || !kind.persistent);
}

}  // namespace
}  // namespace texloom::hal::conformance
