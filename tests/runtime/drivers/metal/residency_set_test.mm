// Tests which memory is in the device's residency set: kernels can reach that memory by address,
// although no encoder names it.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/platform/residency_set.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/runtime/status_matchers.h"
#include "tests/softmetal/api/classes/checks/validation.h"

namespace texloom::hal::metal {
namespace {

class InResidencySets : public DeviceTest {
 protected:
  // Heaps serve requests of up to 4 KiB; buffers of kOwnBytes are allocated separately.
  static constexpr std::uint64_t kHeapBytes = 1 << 16, kOwnBytes = 1 << 13;

  // Returns whether a kernel that has only the addresses of both buffers copies an integer.
  bool copies(const std::shared_ptr<Buffer>& from, const std::shared_ptr<Buffer>& to) {
    const int written = 7;
    TL_EXPECT_OK(write_buffer(*device, from, 0, std::as_bytes(std::span(&written, 1))));
    const std::array accesses = {
        NativeAccess{.memory = BufferBinding{from}, .access = Access::Read, .bytes = 4},
        NativeAccess{.memory = BufferBinding{to}, .access = Access::Write, .bytes = 4}};
    const auto commands = device->create_command_buffer();
    TL_EXPECT_OK(commands->native(accesses, [this](const NativeCommands& native) -> Status {
      encode(native);
      return {};
    }));
    if (!run_and_wait(*device, commands).ok()) return false;
    int read = 0;
    TL_EXPECT_OK(read_buffer(*device, to, 0, std::as_writable_bytes(std::span(&read, 1))));
    return read == written;
  }

  void run_something(const std::shared_ptr<Buffer>& buffer) {
    const auto commands = device->create_command_buffer();
    TL_ASSERT_OK(commands->fill(buffer, 0, 4, std::array{std::byte{1}}));
    TL_ASSERT_OK(run_and_wait(*device, commands));
  }

 private:
  void encode(const NativeCommands& native) {
    id<MTLDevice> metal = (id<MTLDevice>)native_handles(native)->device;
    id<MTLLibrary> library = [[metal
        newLibraryWithSource:@"struct Args { device int* from [[id(0)]]; device int* to [[id(1)]]; "
                              "};\nkernel void copy(constant Args& a [[buffer(0)]]) "
                              "{ a.to[0] = a.from[0]; }"
                     options:nil
                       error:nullptr] autorelease];
    id<MTLFunction> function = [[library newFunctionWithName:@"copy"] autorelease];
    pipeline = adopt<MetalPipeline>([metal newComputePipelineStateWithFunction:function
                                                                         error:nullptr]);
    arguments = adopt<MetalMemory>([metal newBufferWithLength:16 options:0]);
    auto* const addresses = static_cast<std::uint64_t*>(objc(arguments).contents);
    for (std::size_t i = 0; i < 2; ++i) {
      id<MTLBuffer> memory = (id<MTLBuffer>)native_memory(std::get<BoundBuffer>(native.memory[i]));
      addresses[i] = memory.gpuAddress;
    }
    auto* const encoder =
        (id<MTLComputeCommandEncoder>)native_handles(native)->leases->compute_encoder();
    [encoder setComputePipelineState:objc(pipeline)];
    [encoder setBuffer:objc(arguments) offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  }

  Handle<MetalPipeline> pipeline;  // kept here, since command buffers do not retain it
  Handle<MetalMemory> arguments;
};

TEST_F(InResidencySets, AreHeapsAndMemoryOfItsOwn) {
  open({.heap_bytes = kHeapBytes});
  const auto in_heap = make(64), own = make(kOwnBytes), shared = make(64, MemoryKind::Shared);
  EXPECT_TRUE(copies(in_heap, own));
  EXPECT_TRUE(copies(own, in_heap));
  EXPECT_TRUE(copies(shared, own));
}

// Device 1 behaves like systems without residency sets.
TEST_F(InResidencySets, IsNothingOnOlderSystems) {
  open({.heap_bytes = kHeapBytes}, 1);
  const auto before = softmetal::set_misuse_hook([](const std::string&) {});
  EXPECT_FALSE(copies(make(64), make(kOwnBytes)));
  softmetal::set_misuse_hook(before);
}

TEST_F(InResidencySets, MemoryIsAddedOnceAndTakenOut) {
  open({.heap_bytes = kHeapBytes});
  const auto first = make(64);
  const MessageCounts counts;
  auto own = make(kOwnBytes);
  const auto second = make(64);
  EXPECT_EQ(counts.of("addAllocation:"), 1) << "the heap of the other one is there";
  EXPECT_EQ(counts.of("requestResidency"), 0);
  run_something(first);
  EXPECT_EQ(counts.of("requestResidency"), 1) << "before the first command buffer that follows";
  run_something(first);
  EXPECT_EQ(counts.of("requestResidency"), 1);
  own = nullptr;
  EXPECT_EQ(counts.of("removeAllocation:"), 1);
}

TEST_F(InResidencySets, StagingBlocksStay) {
  open({.heap_bytes = kHeapBytes});
  const auto buffer = make(64);
  const std::array<std::byte, 64> values = {};
  const MessageCounts counts;
  for (int i = 0; i < 2; ++i) {
    TL_ASSERT_OK(write_buffer(*device, buffer, 0, values));
    EXPECT_EQ(counts.of("addAllocation:"), 1) << "the block is used again";
  }
  EXPECT_EQ(counts.of("removeAllocation:"), 0);
}

// A commit calls the system, so removals wait for the next commit. Until then, the set retains the
// memory.
TEST_F(InResidencySets, RemovalsAreCommittedTogether) {
  open({.heap_bytes = kHeapBytes});
  const auto other = make(64);
  std::vector<std::shared_ptr<Buffer>> own = {make(kOwnBytes), make(kOwnBytes), make(kOwnBytes)};
  run_something(own[0]);
  id<MTLBuffer> memory = [(id<MTLBuffer>)native_memory(BoundBuffer(own[0].get(), 0)) retain];
  const MessageCounts counts;
  own.clear();
  EXPECT_EQ(counts.of("removeAllocation:"), 3);
  EXPECT_EQ(counts.of("commit"), 0);
  run_something(other);
  EXPECT_EQ(counts.of("commit"), 2) << "one is that of the command buffer";
  EXPECT_EQ(counts.of("requestResidency"), 0) << "nothing was added";
  EXPECT_EQ([memory retainCount], 1U);
  [memory release];
}

TEST_F(InResidencySets, MuchMemoryIsFreedAtOnce) {
  open({.heap_bytes = kHeapBytes});
  auto own = make(ResidencySet::kMostRemoved + 1);
  run_something(own);
  id<MTLBuffer> memory = [(id<MTLBuffer>)native_memory(BoundBuffer(own.get(), 0)) retain];
  const MessageCounts counts;
  own = nullptr;
  EXPECT_EQ(counts.of("commit"), 1);
  EXPECT_EQ([memory retainCount], 1U);
  [memory release];
}

TEST(Residencies, KeepNoMoreThanTheirLimit) {
  @autoreleasepool {
    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    const auto memory = [&](NSUInteger bytes) {
      return adopt<MetalMemory>([device newBufferWithLength:bytes options:0]);
    };
    const Handle<MetalMemory> a = memory(60), b = memory(41), c = memory(40);
    ResidencySet set((MetalDevice*)device, 100);
    const MessageCounts counts;
    {
      const SetMember kept = set.keep(a.get()), too_much = set.keep(b.get()),
                      last = set.keep(c.get());
      EXPECT_EQ(counts.of("addAllocation:"), 2);
    }
    EXPECT_EQ(counts.of("removeAllocation:"), 2);
    const SetMember again = set.keep(b.get());
    EXPECT_EQ(counts.of("addAllocation:"), 3) << "there is room again";
  }
}

}  // namespace
}  // namespace texloom::hal::metal
