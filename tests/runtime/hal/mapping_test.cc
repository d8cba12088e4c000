// Buffers in the host's hands: mappings, subspans, imports; on the driver null, which has memory
// for them, and on the first OpenCL device.
#include "runtime/drivers/null/driver.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

// Both tests of what is refused and of what is seen by the host alone: the same for every driver.
class MappingTest : public OpenClTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (GetParam())
      OpenClTest::SetUp();
    else
      device_ = *null::create_driver()->open(0);
  }

  std::shared_ptr<Buffer> make_mappable(std::uint64_t bytes, MemoryKind kind = MemoryKind::Shared) {
    auto buffer = device_->create_buffer({.bytes = bytes, .memory = kind});
    EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
    return *buffer;
  }
  static auto refused(const char* part) {
    return fails_with(StatusCode::InvalidArgument, std::string(part));
  }
};

INSTANTIATE_TEST_SUITE_P(Drivers, MappingTest, ::testing::Bool(), [](const auto& param) {
  return param.param ? std::string("OpenCl") : std::string("Null");
});

TEST_P(MappingTest, WhatIsWrittenIsThereForTheNextMapping) {
  for (const MemoryKind kind : {MemoryKind::Shared, MemoryKind::Managed}) {
    const auto buffer = make_mappable(301, kind);
    const Bytes data = random_bytes(301, 1);
    Result<Mapping> write = buffer->map(Access::Write);
    TL_ASSERT_OK(write.status());
    ASSERT_EQ(write->bytes().size(), 301U);
    std::copy(data.begin(), data.end(), write->bytes().begin());
    TL_ASSERT_OK(write->release());
    EXPECT_TRUE(write->bytes().empty());
    TL_ASSERT_OK(write->release());
    const Result<Mapping> read = buffer->map(7, 94, Access::Read);
    TL_ASSERT_OK(read.status());
    EXPECT_TRUE(std::ranges::equal(read->bytes(), std::span(data).subspan(7, 94)));
  }
}

// A part that is mapped for both keeps what the host leaves alone.
TEST_P(MappingTest, ReadWriteKeepsTheRest) {
  for (const MemoryKind kind : {MemoryKind::Shared, MemoryKind::Managed}) {
    const auto buffer = make_mappable(64, kind);
    Bytes expected = random_bytes(64, 2);
    std::ranges::copy(expected, (*buffer->map(Access::Write)).bytes().begin());
    (*buffer->map(8, 16, Access::ReadWrite)).bytes()[3] = std::byte{0x5a};
    expected[11] = std::byte{0x5a};
    EXPECT_TRUE(std::ranges::equal((*buffer->map(Access::Read)).bytes(), expected));
  }
}

// A debug mode shows what the host left unwritten, on devices that forgive it, too.
TEST_P(MappingTest, DebugModeFillsWhatIsToBeWritten) {
  device_ = *(GetParam() ? driver_ : null::create_driver())->open(0, {.debug = true});
  const auto buffer = make_mappable(16);
  std::ranges::fill((*buffer->map(Access::Write)).bytes(), std::byte{1});
  (*buffer->map(Access::Write)).bytes()[0] = std::byte{2};
  const Result<Mapping> read = buffer->map(Access::Read);
  EXPECT_EQ(read->bytes()[0], std::byte{2});
  EXPECT_EQ(read->bytes()[15], std::byte{0xcd});
}

TEST_P(MappingTest, MisuseIsRefusedAndLeavesTheBufferUsable) {
  const auto buffer = make_mappable(64);
  EXPECT_THAT(buffer->map(0, 0, Access::Read).status(), refused("map: zero bytes"));
  EXPECT_THAT(buffer->map(60, 5, Access::Read).status(), refused("5 bytes at offset 60"));
  EXPECT_THAT(buffer->map(~std::uint64_t{0}, 2, Access::Read).status(), refused("has 64"));
  const auto mute = *device_->create_buffer({.bytes = 64});
  EXPECT_THAT(mute->map(Access::Read).status(), refused("\"device\" cannot be mapped"));
  EXPECT_TRUE(buffer->map(Access::Read).ok());
}

TEST_P(MappingTest, RangesMeetOnlyWhenBothAreRead) {
  const auto buffer = make_mappable(64);
  Result<Mapping> first = buffer->map(0, 32, Access::Read);
  Result<Mapping> second = buffer->map(16, 32, Access::Read);
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_THAT(buffer->map(31, 4, Access::Write).status(),
              refused("map: 4 bytes at offset 31 for write, while 32 at 0 are mapped for read"));
  const Result<Mapping> behind = buffer->map(48, 16, Access::ReadWrite);
  EXPECT_TRUE(behind.ok());
  EXPECT_THAT(buffer->map(63, 1, Access::Read).status(), refused("mapped for read-write"));
  TL_ASSERT_OK(first->release());
  TL_ASSERT_OK(second->release());
  EXPECT_TRUE(buffer->map(31, 4, Access::Write).ok());
}

TEST_P(MappingTest, FlushAndInvalidateCheckTheirRanges) {
  const auto buffer = make_mappable(64, MemoryKind::Managed);
  Result<Mapping> write = buffer->map(0, 32, Access::Write);
  TL_ASSERT_OK(write->flush(0, 32));
  TL_ASSERT_OK(write->flush(32, 0));
  EXPECT_THAT(write->flush(1, 32), refused("flush: 32 bytes at offset 1, the mapping has 32"));
  EXPECT_THAT(write->invalidate(0, 1), refused("invalidate: the range is mapped for write"));
  Result<Mapping> read = buffer->map(32, 32, Access::Read);
  TL_ASSERT_OK(read->invalidate(0, 32));
  EXPECT_THAT(read->flush(0, 1), refused("flush: the range is mapped for read"));
  TL_ASSERT_OK(read->release());
  EXPECT_THAT(read->invalidate(0, 1), refused("invalidate: the mapping is released"));
}

TEST_P(MappingTest, MappingsMoveAndKeepTheirBuffer) {
  auto buffer = make_mappable(16);
  const std::weak_ptr<Buffer> watched = buffer;
  Mapping mapping;
  EXPECT_TRUE(mapping.bytes().empty());
  mapping = *buffer->map(Access::Write);
  buffer.reset();
  EXPECT_FALSE(watched.expired());
  Mapping moved = std::move(mapping);
  std::ranges::fill(moved.as<int>(), 7);
  EXPECT_EQ(moved.as<int>().size(), 4U);
  moved = Mapping();
  EXPECT_TRUE(watched.expired());
}

TEST_P(MappingTest, SubspansShareTheMemory) {
  const auto buffer = make_mappable(64);
  const auto outer = *buffer->subspan(16, 40);
  const auto inner = *outer->subspan(8, 8);
  EXPECT_EQ(&inner->root(), buffer.get());
  EXPECT_EQ(inner->base_offset(), 24U);
  EXPECT_EQ(inner->bytes(), 8U);
  std::ranges::fill((*buffer->map(Access::Write)).bytes(), std::byte{1});
  std::ranges::fill((*inner->map(Access::Write)).bytes(), std::byte{2});
  Bytes expected(64, std::byte{1});
  std::fill_n(expected.begin() + 24, 8, std::byte{2});
  EXPECT_TRUE(std::ranges::equal((*buffer->map(Access::Read)).bytes(), expected));
  // What is mapped is told apart in the memory, not in the part.
  const Result<Mapping> mapping = inner->map(Access::Write);
  EXPECT_THAT(outer->map(15, 1, Access::Read).status(), refused("1 bytes at offset 31"));
  EXPECT_TRUE(outer->map(16, 1, Access::Read).ok());
}

TEST_P(MappingTest, SubspansStayWithinTheirBuffer) {
  const auto buffer = make_mappable(64);
  const auto part = *buffer->subspan(16, 16);
  EXPECT_THAT(buffer->subspan(0, 0).status(), refused("zero bytes"));
  EXPECT_THAT(buffer->subspan(60, 5).status(), refused("5 bytes at offset 60"));
  EXPECT_THAT(part->subspan(8, 9).status(), refused("the buffer has 16"));
  EXPECT_THAT(part->map(8, 9, Access::Read).status(), refused("the buffer has 16"));
  const auto commands = device_->create_command_buffer();
  EXPECT_THAT(commands->update(part, 8, Bytes(9)), refused("has 16 bytes"));
}

// A subspan keeps the memory of a buffer that is released.
TEST_P(MappingTest, SubspansKeepTheirBuffer) {
  auto buffer = make_mappable(64);
  const std::weak_ptr<Buffer> watched = buffer;
  auto part = *(*buffer->subspan(0, 32))->subspan(16, 16);
  buffer.reset();
  EXPECT_TRUE(part->map(Access::Write).ok());
  part.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_P(MappingTest, ImportsAreTheHostsMemory) {
  const std::uint64_t alignment = device_->info().limits.import_address_alignment;
  std::vector<std::byte> memory(alignment + 256);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::span<std::byte> aligned(memory.data() + (alignment - address % alignment), 200);
  int released = 0;
  const auto import = [&](std::span<std::byte> bytes) {
    return device_->allocator()->import({.memory = bytes, .release = [&] { ++released; }});
  };
  EXPECT_THAT(import(aligned.subspan(1, 8)).status(), refused("wants a multiple of"));
  EXPECT_THAT(import({}).status(), refused("zero bytes"));
  EXPECT_EQ(released, 0);
  std::ranges::fill(aligned, std::byte{3});
  auto buffer = *import(aligned);
  EXPECT_EQ(buffer->desc().memory, MemoryKind::Shared);
  Result<Mapping> mapping = buffer->map(4, 8, Access::ReadWrite);
  EXPECT_EQ(mapping->bytes().data(), aligned.data() + 4);
  EXPECT_EQ(mapping->bytes()[0], std::byte{3});
  auto part = *buffer->subspan(16, 16);
  buffer.reset();
  TL_ASSERT_OK(mapping->release());
  EXPECT_EQ(released, 0);
  part.reset();
  EXPECT_EQ(released, 1);
}

TEST_P(MappingTest, StatisticsCountBytesAndObjectsByKind) {
  const auto statistics = [&] { return device_->allocator()->statistics(); };
  auto a = *device_->create_buffer({.bytes = 100});
  auto b = *device_->create_buffer({.bytes = 30});
  auto shared = make_mappable(7);
  const auto texture = *device_->create_texture({.extent = {4, 2}});
  a.reset();
  EXPECT_EQ(statistics().of(MemoryKind::Device),
            (MemoryCount{.bytes = 30 + 128, .objects = 2, .peak_bytes = 258, .peak_objects = 3}));
  EXPECT_EQ(statistics().of(MemoryKind::Shared),
            (MemoryCount{.bytes = 7, .objects = 1, .peak_bytes = 7, .peak_objects = 1}));
  EXPECT_EQ(statistics().of(MemoryKind::Managed), MemoryCount());
  // What failed and what has no memory of its own does not count.
  EXPECT_FALSE(device_->create_buffer({.bytes = 0}).ok());
  const auto part = *shared->subspan(0, 4);
  EXPECT_EQ(statistics().of(MemoryKind::Shared).objects, 1U);
  shared.reset();
  EXPECT_EQ(statistics().of(MemoryKind::Shared).objects, 1U);
  alignas(4096) static std::array<std::byte, 64> memory;
  const auto imported = *device_->allocator()->import({.memory = memory});
  EXPECT_EQ(statistics().imported.bytes, 64U);
  EXPECT_EQ(statistics().of(MemoryKind::Shared).bytes, 7U);
  // Objects may outlive the device that counts them.
  device_.reset();
  b.reset();
}

}  // namespace
}  // namespace texloom::hal
