// Tests host memory that is imported as a buffer.
#include <cstdlib>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

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
  // Makes at least 256 bytes of sentinels, aligned as the device requires.
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
  EXPECT_EQ((*buffer)->desc().memory, MemoryKind::Shared);
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
TEST_P(Imports, AreMappedWhereTheyAre) {
  const Memory memory = make_memory();
  const auto buffer = device().allocator()->import({.memory = {memory.get(), size()}});
  TL_ASSERT_OK(buffer.status());
  const auto mapping = (*buffer)->map(4, 8, Access::ReadWrite);
  TL_ASSERT_OK(mapping.status());
  EXPECT_EQ(mapping->bytes().data(), memory.get() + 4);
}
TEST_P(Imports, AreKeptByTheirParts) {
  const Memory memory = make_memory();
  int releases = 0;
  auto buffer = device().allocator()->import(
      {.memory = {memory.get(), size()}, .release = [&] { ++releases; }});
  TL_ASSERT_OK(buffer.status());
  auto part = *(*buffer)->subspan(16, 16);
  *buffer = nullptr;
  EXPECT_EQ(releases, 0);
  part.reset();
  EXPECT_EQ(releases, 1);
}
TEST_P(Imports, AreReleasedOnceAfterTheirLastUse) {
  const Memory memory = make_memory();
  int releases = 0;
  const auto go = make_semaphore();
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
  EXPECT_THAT(device().allocator()->import({.memory = {memory.get(), 0}}).status(),
              fails_with(StatusCode::InvalidArgument, "zero bytes"));
}
TEST_P(Imports, ThatFailAreNotReleased) {
  int releases = 0;
  EXPECT_FALSE(device().allocator()->import({.memory = {}, .release = [&] { ++releases; }}).ok());
  EXPECT_EQ(releases, 0);
}
TEST_P(Imports, BetweenTheAlignmentAreRefused) {
  if (limits().import_address_alignment == 1) GTEST_SKIP() << "any address will do";
  const Memory memory = make_memory();
  EXPECT_THAT(device().allocator()->import({.memory = {memory.get() + 1, size()}}).status(),
              fails_with(StatusCode::InvalidArgument, "requires a multiple of"));
}

}  // namespace
}  // namespace texloom::hal::conformance
