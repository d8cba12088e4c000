// Tests hazards between commands, and what orders commands.
#include <functional>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

constexpr const char* kNoOrder = "and no barrier, fence or event orders the two";

class Hazards : public ApiTest {
 protected:
  id<MTLBuffer> untracked(NSUInteger length = 64) {
    return buffer(length, MTLResourceHazardTrackingModeUntracked);
  }
  static void fill(id<MTLBlitCommandEncoder> encoder, id<MTLBuffer> x, NSUInteger begin = 0,
                   NSUInteger size = 16) {
    [encoder fillBuffer:x range:NSMakeRange(begin, size) value:1];
  }
  // Runs two blit encoders, in one command buffer or in two.
  void run_two(id<MTLBuffer> x, bool in_one, id<MTLFence> fence) {
    id<MTLCommandBuffer> first = [queue commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [first blitCommandEncoder];
    fill(encoder, x);
    if (fence != nil) [encoder updateFence:fence];
    [encoder endEncoding];
    id<MTLCommandBuffer> second = in_one ? first : [queue commandBuffer];
    if (!in_one) [first commit];
    encoder = [second blitCommandEncoder];
    if (fence != nil) [encoder waitForFence:fence];
    fill(encoder, x);
    [encoder endEncoding];
    run(second);
  }
  // Runs two dispatches in a concurrent encoder, and calls `between` between them.
  void run_concurrent(id<MTLBuffer> x,
                      const std::function<void(id<MTLComputeCommandEncoder>)>& between) {
    id<MTLComputePipelineState> add = increment();
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    dispatch(encoder, add, x);
    between(encoder);
    dispatch(encoder, add, x);
    [encoder endEncoding];
    run(commands);
  }
};

TEST_F(Hazards, EncodersOfUntrackedMemoryNeedAFence) {
  for (const bool in_one : {false, true}) {
    run_two(untracked(), in_one, nil);
    expect_said("hazard: fillBuffer uses byte 0 of the buffer, which fillBuffer writes in an "
                "encoder before, and no barrier, fence or event orders the two");
    run_two(untracked(), in_one, [[device newFence] autorelease]);
    expect_nothing_said();
    run_two(buffer(16), in_one, nil);  // tracked
    expect_nothing_said();
  }
}

TEST_F(Hazards, BlitsOfOneEncoderAreNotOrdered) {
  for (const bool is_tracked : {false, true}) {
    id<MTLBuffer> x = is_tracked ? buffer(64) : untracked();
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    fill(encoder, x);
    fill(encoder, x, 16);
    [encoder endEncoding];
    run(commands);
    expect_nothing_said();  // other bytes
    commands = [queue commandBuffer];
    encoder = [commands blitCommandEncoder];
    fill(encoder, x);
    fill(encoder, x, 12);
    [encoder endEncoding];
    run(commands);
    is_tracked ? expect_nothing_said() : expect_said("uses byte 12 of the buffer");
  }
}

TEST_F(Hazards, ConcurrentDispatchesNeedABarrier) {
  for (const bool is_tracked : {false, true}) {
    const auto make = [&] { return is_tracked ? buffer(64) : untracked(); };
    id<MTLBuffer> x = make(), y = make();
    run_concurrent(x, [](id) {});
    expect_said("kernel \"increment\" uses byte 0 of the buffer, which kernel \"increment\" writes "
                "in the same encoder");
    x = make();
    run_concurrent(x, [](id<MTLComputeCommandEncoder> encoder) {
      [encoder memoryBarrierWithScope:MTLBarrierScopeTextures];
    });
    expect_said(kNoOrder);
    x = make();
    run_concurrent(x, [](id<MTLComputeCommandEncoder> encoder) {
      [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    });
    expect_nothing_said();
    x = make();
    run_concurrent(x, [&](id<MTLComputeCommandEncoder> encoder) {
      [encoder memoryBarrierWithResources:&y count:1];
    });
    expect_said(kNoOrder);
    x = make();
    run_concurrent(x, [&](id<MTLComputeCommandEncoder> encoder) {
      [encoder memoryBarrierWithResources:&x count:1];
    });
    expect_nothing_said();
  }
}

TEST_F(Hazards, SerialDispatchesAreOrdered) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  id<MTLBuffer> x = untracked();
  dispatch(encoder, increment(), x);
  dispatch(encoder, increment(), x);
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ(contents<int>(x)[0], 2);
}

TEST_F(Hazards, ReadsNeedNoOrder) {
  id<MTLComputePipelineState> copy =
      pipeline("kernel void copy(device const int* x [[buffer(0)]], device int* y [[buffer(1)]]) "
               "{ y[0] = x[0]; }");
  id<MTLBuffer> x = untracked();
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder =
      [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  for (int i = 0; i < 2; ++i) {
    [encoder setBuffer:untracked() offset:0 atIndex:1];
    dispatch(encoder, copy, x);
  }
  [encoder endEncoding];
  run(commands);
  expect_nothing_said();
  // A write after a read must be ordered.
  commands = [queue commandBuffer];
  encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  [encoder setBuffer:untracked() offset:0 atIndex:1];
  dispatch(encoder, copy, x);
  dispatch(encoder, increment(), x);
  [encoder endEncoding];
  run(commands);
  expect_said("which kernel \"copy\" reads in the same encoder");
}

TEST_F(Hazards, QueuesNeedAnEventOrTheHost) {
  id<MTLCommandQueue> other = [[device newCommandQueue] autorelease];
  id<MTLBuffer> x = nil;
  const auto run_both = [&](bool waits_on_host, bool waits_on_device) {
    x = buffer(64);  // Metal tracks hazards only within a queue
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLCommandBuffer> first = [queue commandBuffer], second = [other commandBuffer];
    if (waits_on_device) [second encodeWaitForEvent:event value:1];
    for (id<MTLCommandBuffer> commands in @[ first, second ]) {
      id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
      fill(encoder, x);
      [encoder endEncoding];
    }
    [first encodeSignalEvent:event value:1];
    [first commit];
    if (waits_on_host) [first waitUntilCompleted];
    run(second);
    [first waitUntilCompleted];
  };
  run_both(true, false);
  expect_nothing_said();
  run_both(false, true);
  expect_nothing_said();
  run_both(false, false);
  expect_said(kNoOrder);
}

TEST_F(Hazards, ViewsReachTheMemoryOfTheirBuffer) {
  MTLTextureDescriptor* const d = descriptor(4, 1);
  d.hazardTrackingMode = MTLHazardTrackingModeUntracked;
  id<MTLBuffer> x = untracked();
  id<MTLTexture> view = [[x newTextureWithDescriptor:d offset:0 bytesPerRow:16] autorelease];
  id<MTLComputePipelineState> write =
      pipeline("kernel void write(texture2d<float, access::write> t [[texture(0)]]) "
               "{ t.write(float4(1.0f), uint2(0, 0)); }");
  const auto run_both = [&](MTLBarrierScope scope) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder setTexture:view atIndex:0];
    dispatch(encoder, write, x);
    [encoder memoryBarrierWithScope:scope];
    dispatch(encoder, increment(), x);
    [encoder endEncoding];
    run(commands);
  };
  run_both(MTLBarrierScopeBuffers);
  expect_said("which kernel \"write\" writes as the texture in the same encoder");
  run_both(MTLBarrierScopeTextures);
  expect_said(kNoOrder);
  run_both(MTLBarrierScopeBuffers | MTLBarrierScopeTextures);
  expect_nothing_said();
}

TEST_F(Hazards, TexelsAreToldApart) {
  id<MTLComputePipelineState> write =
      pipeline("kernel void write(texture2d<float, access::write> t [[texture(0)]], "
               "device int* x [[buffer(0)]]) { t.write(float4(1.0f), uint2(x[0], 0)); }");
  for (const int second : {1, 0}) {
    id<MTLTexture> t = texture(descriptor(4, 4));
    id<MTLBuffer> places = untracked();
    contents<int>(places)[4] = second;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder setTexture:t atIndex:0];
    dispatch(encoder, write, places);
    [encoder setBuffer:places offset:16 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    run(commands);
    second == 1 ? expect_nothing_said() : expect_said("of the texture, which kernel \"write\"");
  }
}

TEST_F(Hazards, MemoryOfHeapsIsNotTracked) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  d.size = 4096;
  d.storageMode = MTLStorageModePrivate;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  id<MTLBuffer> x = [[heap newBufferWithLength:64
                                       options:MTLResourceStorageModePrivate] autorelease];
  run_two(x, true, nil);
  expect_said(kNoOrder);
  // Another resource at the same place of a heap has the same memory.
  [x makeAliasable];
  id<MTLBuffer> y = [[heap newBufferWithLength:64
                                       options:MTLResourceStorageModePrivate] autorelease];
  EXPECT_EQ([y heapOffset], [x heapOffset]);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  for (id<MTLBuffer> each in @[ x, y ]) {
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    fill(encoder, each);
    [encoder endEncoding];
  }
  run(commands);
  expect_said(kNoOrder);
}

}  // namespace
}  // namespace softmetal
