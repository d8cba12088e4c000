// Tests the statistics that allocators keep about their memory.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

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
TEST_P(Allocators, CountEachKindApart) {
  for (const MemoryKind kind : kAllMemoryKinds) {
    if (!info().memory(kind).available) continue;
    const MemoryStatistics before = device().allocator()->statistics();
    const auto buffer = device().create_buffer({.bytes = 7, .memory = kind});
    TL_ASSERT_OK(buffer.status());
    const MemoryStatistics with = device().allocator()->statistics();
    for (const MemoryKind each : kAllMemoryKinds)
      EXPECT_EQ(with.of(each).bytes, before.of(each).bytes + (each == kind ? 7 : 0));
  }
}
TEST_P(Allocators, CountImportsApart) {
  if (!info().features.host_import) GTEST_SKIP() << "no import of host memory";
  alignas(4096) static std::array<std::byte, 4096> memory;
  if (4096 % limits().import_address_alignment != 0 || 4096 % limits().import_size_alignment != 0)
    GTEST_SKIP() << "imports are aligned to more than 4096 bytes";
  const auto imported = device().allocator()->import({.memory = memory});
  TL_ASSERT_OK(imported.status());
  const MemoryStatistics statistics = device().allocator()->statistics();
  EXPECT_EQ(statistics.imported.bytes, 4096U);
  EXPECT_EQ(statistics.of(MemoryKind::Shared).bytes, 0U);
}
// Objects may outlive their device.
TEST_P(Allocators, OutliveTheirDevice) {
  auto opened = open_another();
  auto buffer = *opened->create_buffer({.bytes = 30});
  const auto allocator = opened->allocator();
  opened.reset();
  EXPECT_EQ(allocator->statistics().of(MemoryKind::Device).bytes, 30U);
  buffer.reset();
  EXPECT_EQ(allocator->statistics().of(MemoryKind::Device).bytes, 0U);
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
