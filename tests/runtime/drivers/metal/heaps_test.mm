// Tests which memory the driver allocates from heaps.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "tests/runtime/drivers/metal/device_test.h"

namespace texloom::hal::metal {
namespace {

class Heaps : public DeviceTest {
 protected:
  static id<MTLBuffer> metal(const std::shared_ptr<Buffer>& buffer) {
    return (id<MTLBuffer>)native_memory(BoundBuffer(buffer.get(), 0));
  }
};

TEST_F(Heaps, HoldSmallDeviceMemory) {
  open({.heap_bytes = 1 << 16});
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
  open({.heap_bytes = 1 << 16});
  auto a = make(1000);
  const auto b = make(1000);
  id<MTLHeap> heap = metal(a).heap;
  const NSUInteger place = metal(a).heapOffset, used = heap.usedSize;
  a = nullptr;
  EXPECT_LT(heap.usedSize, used);
  EXPECT_EQ(metal(make(1000)).heapOffset, place);
}

TEST_F(Heaps, AreAsManyAsNeeded) {
  open({.heap_bytes = 1 << 16});
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(make(4096));
  EXPECT_NE(metal(buffers[0]).heap, metal(buffers[39]).heap);
  EXPECT_NE(metal(buffers[39]).heap, nil);
}

TEST_F(Heaps, AreGivenBackForLargeMemory) {
  open({.heap_bytes = 1 << 16});
  id<MTLDevice> const system = metal(make(100)).device;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(make(4096));
  buffers.clear();
  const NSUInteger before = system.currentAllocatedSize;
  const auto large = make(1 << 13);
  EXPECT_LE(system.currentAllocatedSize, before - (1 << 16) + (1 << 13));
}

TEST_F(Heaps, AreLeftOutIfTheyHaveNoBytes) {
  open({.heap_bytes = 0});
  EXPECT_EQ(metal(make(100)).heap, nil);
}

}  // namespace
}  // namespace texloom::hal::metal
