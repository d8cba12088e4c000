// Which memory the driver takes from heaps.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/drivers/metal/driver.h"
#include "runtime/hal/device.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

class Heaps : public ::testing::Test {
 protected:
  void open(std::uint64_t heap_bytes) {
    auto driver = create_driver({.heap_bytes = heap_bytes});
    TL_ASSERT_OK(driver.status());
    auto opened = (*driver)->open(0);
    TL_ASSERT_OK(opened.status());
    device = *opened;
  }
  std::shared_ptr<Buffer> make(std::uint64_t bytes, MemoryKind kind = MemoryKind::Device) {
    auto made = device->create_buffer({.bytes = bytes, .memory = kind});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }
  static id<MTLBuffer> metal(const std::shared_ptr<Buffer>& buffer) {
    return (id<MTLBuffer>)native_memory(BoundBuffer(buffer.get(), 0));
  }

  std::shared_ptr<Device> device;
};

TEST_F(Heaps, HoldSmallDeviceMemory) {
  open(1 << 16);
  const auto a = make(100), b = make(3000);
  EXPECT_NE(metal(a).heap, nil);
  EXPECT_EQ(metal(a).heap, metal(b).heap);
  EXPECT_EQ(metal(make(1 << 13)).heap, nil) << "too large";
  EXPECT_EQ(metal(make(100, MemoryKind::Shared)).heap, nil) << "the host sees it";
  auto texture = device->create_texture({.extent = {4, 4}});
  TL_ASSERT_OK(texture.status());
  id<MTLTexture> image = (id<MTLTexture>)native_memory(BoundTexture{.texture = texture->get()});
  EXPECT_EQ(image.heap, metal(a).heap);
}

TEST_F(Heaps, GetMemoryBack) {
  open(1 << 16);
  auto a = make(1000);
  const auto b = make(1000);
  id<MTLHeap> heap = metal(a).heap;
  const NSUInteger place = metal(a).heapOffset, used = heap.usedSize;
  a = nullptr;
  EXPECT_LT(heap.usedSize, used);
  EXPECT_EQ(metal(make(1000)).heapOffset, place);
}

TEST_F(Heaps, AreAsManyAsNeeded) {
  open(1 << 16);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(make(4096));
  EXPECT_NE(metal(buffers[0]).heap, metal(buffers[39]).heap);
  EXPECT_NE(metal(buffers[39]).heap, nil);
}

TEST_F(Heaps, AreLeftOutIfTheyHaveNoBytes) {
  open(0);
  EXPECT_EQ(metal(make(100)).heap, nil);
}

}  // namespace
}  // namespace texloom::hal::metal
