// Buffers that the host maps, host memory that becomes a buffer, parts of buffers, and what is
// counted of all that.
#include <cstdlib>

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
  // A kernel makes each of eight uint32 of a buffer 5.
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
  EXPECT_EQ(make(64)->map(Access::Read).status().code(), StatusCode::InvalidArgument);
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
  EXPECT_EQ(buffer->map(Access::ReadWrite).status().code(), StatusCode::InvalidArgument);
}
TEST_P(Mappings, MayBothRead) {
  const auto buffer = make(16);
  const Mapping first = map(buffer, Access::Read), second = map(buffer, Access::Read);
  EXPECT_EQ(first.bytes().size() + second.bytes().size(), 32U);
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
  EXPECT_THAT(buffer->map(15, 4, Access::Read).status(), refused("map"));
  TL_EXPECT_OK(buffer->map(16, 4, Access::Read).status());
}
TEST_P(Mappings, OfNoBytesAreRefused) {
  EXPECT_EQ(make(16)->map(0, 0, Access::Read).status().code(), StatusCode::InvalidArgument);
}
TEST_P(Mappings, PastTheEndAreRefused) {
  const auto buffer = make(16);
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{9, 8}, {16, 1}, {~std::uint64_t{0}, 2}})
    EXPECT_EQ(buffer->map(offset, bytes, Access::Read).status().code(),
              StatusCode::InvalidArgument);
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
// Both sides take turns over one mapping.
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
  EXPECT_EQ(mapping.flush(9, 8).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(mapping.invalidate(17, 1).code(), StatusCode::InvalidArgument);
  TL_EXPECT_OK(mapping.flush(8, 8));
  TL_EXPECT_OK(mapping.invalidate(0, 16));
}
TEST_P(Mappings, OfOneAccessAloneDoNotFlushOrInvalidate) {
  const auto buffer = make(16);
  Mapping reading = map(buffer, Access::Read);
  EXPECT_EQ(reading.flush(0, 4).code(), StatusCode::InvalidArgument);
  TL_ASSERT_OK(reading.release());
  Mapping writing = map(buffer, Access::Write);
  EXPECT_EQ(writing.invalidate(0, 4).code(), StatusCode::InvalidArgument);
}

class MissingMemoryKinds : public On<MemoryKind> {};
TL_ON_EVERY_DEVICE(MissingMemoryKinds, ::testing::ValuesIn(kAllMemoryKinds));

TEST_P(MissingMemoryKinds, AreUnimplemented) {
  if (info().memory(parameter<0>()).available) GTEST_SKIP() << "the device has the memory";
  EXPECT_EQ(device().create_buffer({.bytes = 4, .memory = parameter<0>()}).status().code(),
            StatusCode::Unimplemented);
}
TEST_P(MissingMemoryKinds, AreNeitherMappableNorPersistent) {
  const MemoryKindInfo& kind = info().memory(parameter<0>());
  EXPECT_TRUE(kind.available || !kind.mappable);
  EXPECT_TRUE(kind.mappable || !kind.persistent);
}

class Imports : public On<> {
 protected:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  void SetUp() override {
    On<>::SetUp();
    if (!IsSkipped() && !info().features.host_import) GTEST_SKIP() << "no import of host memory";
  }
  // Aligned as the device wants it, of at least 256 bytes, full of sentinels.
  Memory make_memory() {
    const std::size_t alignment = std::max<std::size_t>(limits().import_address_alignment, 64);
    Memory memory(static_cast<std::byte*>(std::aligned_alloc(alignment, 16 * size())));
    std::fill_n(memory.get(), size(), kSentinel);
    return memory;
  }
  std::size_t size() {
    const std::size_t step = limits().import_size_alignment;
    const std::size_t alignment = std::max<std::size_t>(limits().import_address_alignment, 64);
    const std::size_t unit = std::max(step, alignment);
    return (256 + unit - 1) / unit * unit;
  }
};
TL_ON_EVERY_DEVICE(Imports);

TEST_P(Imports, HoldWhatTheMemoryHolds) {
  const Memory memory = make_memory();
  const auto buffer = device().allocator()->import({.memory = {memory.get(), size()}});
  TL_ASSERT_OK(buffer.status());
  EXPECT_EQ((*buffer)->bytes(), size());
  expect_content(*buffer, Bytes(size(), kSentinel));
}
TEST_P(Imports, AreWrittenByTheDevice) {
  const Memory memory = make_memory();
  {
    const auto buffer = device().allocator()->import({.memory = {memory.get(), size()}});
    TL_ASSERT_OK(buffer.status());
    TL_ASSERT_OK(write_buffer(device(), *buffer, 3, Bytes(10, std::byte{1})));
    auto mapping = (*buffer)->map(Access::Read);
    TL_ASSERT_OK(mapping.status());
    Bytes expected(size(), kSentinel);
    std::fill_n(expected.begin() + 3, 10, std::byte{1});
    expect_bytes(mapping->bytes(), expected);
  }
}
TEST_P(Imports, AreReleasedOnceBehindTheirLastUse) {
  const Memory memory = make_memory();
  int releases = 0;
  const auto go = std::make_shared<Semaphore>();
  {
    auto buffer = device().allocator()->import(
        {.memory = {memory.get(), size()}, .release = [&] { ++releases; }});
    TL_ASSERT_OK(buffer.status());
    const auto commands = begin();
    TL_ASSERT_OK(commands->update(*buffer, 0, Bytes(4)));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue().submit({.waits = {{go, 1}}, .commands = {commands}}));
  }
  EXPECT_EQ(releases, 0);
  TL_ASSERT_OK(go->signal(1));
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_EQ(releases, 1);
}
TEST_P(Imports, OfNoBytesAreRefused) {
  const Memory memory = make_memory();
  EXPECT_EQ(device().allocator()->import({.memory = {memory.get(), 0}}).status().code(),
            StatusCode::InvalidArgument);
}
TEST_P(Imports, ThatFailAreNotReleased) {
  int releases = 0;
  EXPECT_FALSE(device().allocator()->import({.memory = {}, .release = [&] { ++releases; }}).ok());
  EXPECT_EQ(releases, 0);
}
TEST_P(Imports, BetweenTheAlignmentAreRefused) {
  if (limits().import_address_alignment == 1) GTEST_SKIP() << "any address will do";
  const Memory memory = make_memory();
  EXPECT_EQ(device().allocator()->import({.memory = {memory.get() + 1, size()}}).status().code(),
            StatusCode::InvalidArgument);
}

class Subspans : public On<> {};
TL_ON_EVERY_DEVICE(Subspans);

TEST_P(Subspans, AreAPartOfTheMemory) {
  const Bytes data = random_bytes(100, 1);
  const auto whole = make_buffer(data);
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  EXPECT_EQ((*part)->bytes(), 40U);
  expect_content(*part, std::span(data).subspan(30, 40));
}
TEST_P(Subspans, AreWrittenThrough) {
  const auto whole = make_buffer(Bytes(100, kSentinel));
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  TL_ASSERT_OK(write_buffer(device(), *part, 5, Bytes(10, std::byte{1})));
  Bytes expected(100, kSentinel);
  std::fill_n(expected.begin() + 35, 10, std::byte{1});
  expect_content(whole, expected);
}
TEST_P(Subspans, OfSubspansAddTheirOffsets) {
  const Bytes data = random_bytes(100, 2);
  const auto whole = make_buffer(data);
  const auto part = whole->subspan(30, 40);
  TL_ASSERT_OK(part.status());
  const auto smaller = (*part)->subspan(7, 5);
  TL_ASSERT_OK(smaller.status());
  expect_content(*smaller, std::span(data).subspan(37, 5));
}
TEST_P(Subspans, KeepTheMemory) {
  const Bytes data = random_bytes(100, 3);
  auto whole = make_buffer(data);
  const auto part = *whole->subspan(30, 40);
  whole.reset();
  expect_content(part, std::span(data).subspan(30, 40));
}
TEST_P(Subspans, AreBoundToKernels) {
  const std::uint64_t alignment = limits().buffer_offset_alignment;
  const std::size_t step = alignment / 4;
  std::vector<std::uint32_t> values(4 * step, 1);
  const auto whole = make_buffer(bytes_of(values));
  const auto part = *whole->subspan(2 * alignment, alignment);
  const auto commands = begin();
  const std::array<Binding, 1> bindings = {BufferBinding{part}};
  const std::array constants = {Constant(5)};
  TL_ASSERT_OK(
      commands->dispatch(executable(kernels::advance()), 0, {1, 1, 1}, bindings, constants));
  TL_ASSERT_OK(run(commands));
  values[2 * step] = 8;
  expect_values(whole, values);
}
TEST_P(Subspans, CopyWithinTheirBuffer) {
  Bytes data = random_bytes(64, 4);
  const auto whole = make_buffer(data);
  const auto left = *whole->subspan(0, 32), right = *whole->subspan(32, 32);
  const auto commands = begin();
  TL_ASSERT_OK(commands->copy_buffer(left, 3, right, 5, 20));
  TL_ASSERT_OK(run(commands));
  std::copy_n(data.begin() + 3, 20, data.begin() + 37);
  expect_content(whole, data);
}
TEST_P(Subspans, ThatOverlapAreNotCopiedOntoEachOther) {
  const auto whole = make_buffer(64);
  const auto left = *whole->subspan(0, 40), right = *whole->subspan(24, 40);
  EXPECT_THAT(begin()->copy_buffer(left, 20, right, 0, 10),
              fails_with(StatusCode::InvalidArgument, "overlap"));
  TL_EXPECT_OK(begin()->copy_buffer(left, 0, right, 0, 10));
}
TEST_P(Subspans, PastTheEndAreRefused) {
  const auto whole = make_buffer(64);
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{60, 5}, {64, 1}, {~std::uint64_t{0}, 2}, {0, 0}})
    EXPECT_EQ(whole->subspan(offset, bytes).status().code(), StatusCode::InvalidArgument);
}
TEST_P(Subspans, DoNotReachBeyondTheirEnd) {
  const auto part = *make_buffer(64)->subspan(16, 16);
  EXPECT_THAT(begin()->update(part, 9, Bytes(8)),
              fails_with(StatusCode::InvalidArgument, "16 bytes, wanted 8 at offset 9"));
}

class Allocators : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (!IsSkipped()) use(open_another());
  }
  MemoryCount count() { return device().allocator()->statistics().of(MemoryKind::Device); }
};
TL_ON_EVERY_DEVICE(Allocators);

TEST_P(Allocators, CountWhatTheyGiveOut) {
  const MemoryCount before = count();
  auto buffer = make_buffer(1000);
  EXPECT_EQ(count().bytes, before.bytes + 1000);
  EXPECT_EQ(count().objects, before.objects + 1);
  buffer.reset();
  EXPECT_EQ(count().bytes, before.bytes);
  EXPECT_EQ(count().objects, before.objects);
}
TEST_P(Allocators, CountTextures) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const MemoryCount before = count();
  const auto texture = make_texture({8, 4}, TexelFormat::Rgba8UInt);
  EXPECT_EQ(count().bytes, before.bytes + 128);
}
TEST_P(Allocators, KeepThePeak) {
  (void)make_buffer(1000);
  const MemoryCount after = count();
  EXPECT_GE(after.peak_bytes, 1000U);
  EXPECT_LT(after.bytes, after.peak_bytes);
}
TEST_P(Allocators, DoNotCountSubspans) {
  const auto buffer = make_buffer(1000);
  const MemoryCount before = count();
  const auto part = *buffer->subspan(0, 500);
  EXPECT_EQ(count(), before);
}
TEST_P(Allocators, DoNotCountWhatWasRefused) {
  const MemoryCount before = count();
  EXPECT_FALSE(device().create_buffer({.bytes = 0}).ok());
  EXPECT_FALSE(device().create_buffer({.bytes = limits().max_allocation_bytes + 1}).ok());
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace texloom::hal::conformance
