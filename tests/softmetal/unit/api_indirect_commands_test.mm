// Tests indirect command buffers: their commands' effects, the time at which commands are read,
// resident resources, and the encoder's state afterwards.
#include "tests/softmetal/unit/api_indirect.h"

namespace softmetal {
namespace {

using IndirectCommandsTest = IndirectTest;

// Indirect commands can be run again with another address in their argument buffer.
TEST_F(IndirectCommandsTest, RunAgainOverOtherContents) {
  for (id<MTLDevice> on in devices) {
    id<MTLComputePipelineState> copy = indirect_pipeline(
        on, "struct Args { device int* from [[id(0)]]; device int* to [[id(1)]]; };\n"
            "kernel void copy(constant Args& a [[buffer(1)]]) { a.to[0] = a.from[0]; }");
    id<MTLComputePipelineState> add = indirect_pipeline(on, kIncrement);
    id<MTLBuffer> first = buffer_of(on, 4), second = buffer_of(on, 4), to = buffer_of(on, 16),
                  arguments = buffer_of(on, 16);
    contents<int>(first)[0] = 10;
    contents<int>(second)[0] = 20;
    contents<uint64_t>(arguments)[1] = [to gpuAddress];
    id<MTLIndirectCommandBuffer> commands = commands_of(on, 5);
    EXPECT_EQ([commands size], 5U);
    [[commands indirectComputeCommandAtIndex:0] setComputePipelineState:copy];
    [[commands indirectComputeCommandAtIndex:0] setKernelBuffer:arguments offset:0 atIndex:1];
    [[commands indirectComputeCommandAtIndex:0] concurrentDispatchThreadgroups:kOne
                                                         threadsPerThreadgroup:kOne];
    // The second command, which is not set, does nothing.
    id<MTLIndirectComputeCommand> third = [commands indirectComputeCommandAtIndex:2];
    [third setComputePipelineState:add];
    [third setKernelBuffer:to offset:0 atIndex:0];
    [third setBarrier];
    [third concurrentDispatchThreads:MTLSizeMake(3, 1, 1)
               threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    increments(commands, 3, to, add);  // outside of the range
    id<MTLCommandQueue> its_queue = [[on newCommandQueue] autorelease];
    for (id<MTLBuffer> from in @[ first, second ]) {
      contents<uint64_t>(arguments)[0] = [from gpuAddress];
      id<MTLCommandBuffer> buffer = [its_queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
      use_first(encoder, {copy, add});
      use(encoder, {first, second, to, arguments});
      [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 3)];
      [encoder endEncoding];
      run(buffer);
      ASSERT_EQ([buffer status], MTLCommandBufferStatusCompleted);
      EXPECT_EQ(contents<int>(to)[0], contents<int>(from)[0] + 1);
    }
    EXPECT_EQ(contents<int>(to)[2], 2);
    EXPECT_EQ(contents<int>(to)[3], 0);
  }
}

TEST_F(IndirectCommandsTest, InheritPipelineAndBuffers) {
  MTLIndirectCommandBufferDescriptor* const d =
      [[MTLIndirectCommandBufferDescriptor new] autorelease];
  EXPECT_TRUE(d.inheritPipelineState);
  EXPECT_TRUE(d.inheritBuffers);
  EXPECT_EQ(d.maxKernelBufferBindCount, 31U);
  EXPECT_EQ(d.commandTypes, 0U);
  d.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  id<MTLIndirectCommandBuffer> commands = commands_with([[d copy] autorelease], 1);
  id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:0];
  [command concurrentDispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:kOne];
  id<MTLBuffer> x = buffer(16);
  const auto run_with = [&](id<MTLComputePipelineState> pipeline) {
    id<MTLCommandBuffer> on = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    if (pipeline != nil) [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:x offset:4 atIndex:0];
    [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
    // Arguments that the encoder sets later are not inherited.
    [encoder setBuffer:buffer(16) offset:0 atIndex:0];
    [encoder endEncoding];
    run(on);
    return [on status];
  };
  EXPECT_EQ(run_with(add), MTLCommandBufferStatusCompleted);
  EXPECT_EQ(contents<int>(x)[0], 0);
  EXPECT_EQ(contents<int>(x)[2], 1);
  EXPECT_EQ(run_with(increment()), MTLCommandBufferStatusError);
  expect_said(
      "executeCommandsInBuffer: command 0 of an indirect command buffer: the pipeline state "
      "was made without supportIndirectCommandBuffers");
  EXPECT_EQ(run_with(nil), MTLCommandBufferStatusError);
  expect_said("command 0 of an indirect command buffer: no pipeline state is set");
  [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(2000, 1, 1)];
  EXPECT_EQ(run_with(add), MTLCommandBufferStatusError);
  expect_said("more threads per threadgroup than maxTotalThreadsPerThreadgroup");
}

TEST_F(IndirectCommandsTest, AreReadWhenTheyRun) {
  id<MTLBuffer> x = buffer(4), y = buffer(4);
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 2);
  increments(commands, 0, x);
  increments(commands, 1, x);
  id<MTLCommandBuffer> on = [queue commandBuffer];
  encode(on, commands, {x, y});
  [[commands indirectComputeCommandAtIndex:0] setKernelBuffer:y offset:0 atIndex:0];
  [commands resetWithRange:NSMakeRange(1, 1)];
  run(on);
  EXPECT_EQ(contents<int>(x)[0], 0);
  EXPECT_EQ(contents<int>(y)[0], 1);
  [[commands indirectComputeCommandAtIndex:0] reset];
  execute(commands, {x, y});
  EXPECT_EQ(contents<int>(y)[0], 1);
}

TEST_F(IndirectCommandsTest, StayAsTheyAreWhileTheyMayRun) {
  id<MTLBuffer> x = buffer(4);
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 2);
  id<MTLIndirectComputeCommand> command = increments(commands, 0, x);
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  id<MTLCommandBuffer> on = [queue commandBuffer];
  [on encodeWaitForEvent:event value:1];
  encode(on, commands, {x}, NSMakeRange(0, 1));
  [command clearBarrier];
  [on commit];
  constexpr const char* kReads = ": a command buffer that executes the command, and has not "
                                 "completed, reads it when it runs";
  const auto refused = [&](const char* call) { expect_said((call + std::string(kReads)).c_str()); };
  [command setComputePipelineState:add];
  refused("setComputePipelineState of an indirect command");
  [command setKernelBuffer:x offset:0 atIndex:0];
  refused("setKernelBuffer");
  [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  refused("concurrentDispatchThreadgroups");
  [command concurrentDispatchThreads:kOne threadsPerThreadgroup:kOne];
  refused("concurrentDispatchThreads");
  [command setBarrier];
  refused("setBarrier");
  [command clearBarrier];
  refused("clearBarrier");
  [command reset];
  refused("reset");
  [commands resetWithRange:NSMakeRange(0, 2)];
  refused("resetWithRange");
  increments(commands, 1, x);  // is not executed
  [event setSignaledValue:1];
  [on waitUntilCompleted];
  [command reset];
  EXPECT_EQ(contents<int>(x)[0], 1);
}

TEST_F(IndirectCommandsTest, NeedWhatNobodyRetainsForThem) {
  id<MTLBuffer> x = buffer(4);
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  id<MTLIndirectComputeCommand> command = nil;
  id<MTLCommandBuffer> on = [queue commandBufferWithUnretainedReferences];
  [on encodeWaitForEvent:event value:1];
  @autoreleasepool {
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    command = [increments(commands, 0, x) retain];
    encode(on, commands, {x});
    [on commit];
  }
  expect_said("dealloc: the indirect command buffer is needed by a command buffer that has not "
              "completed");
  [command setBarrier];
  expect_said("setBarrier: the indirect command buffer was deallocated");
  [command release];
  [event setSignaledValue:1];
  [on waitUntilCompleted];
  EXPECT_EQ(contents<int>(x)[0], 1);
  // A retaining command buffer keeps the indirect commands, but not their pipeline states.
  on = [queue commandBuffer];
  @autoreleasepool {
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    [on encodeWaitForEvent:event value:2];
    increments(commands, 0, x, indirect_pipeline(device, kIncrement));
    encode(on, commands, {x});
    [on commit];
  }
  expect_said("dealloc: the pipeline state is needed by a command buffer that has not completed");
  [event setSignaledValue:2];
  [on waitUntilCompleted];
  on = [queue commandBuffer];
  @autoreleasepool {
    // A command without a dispatch uses no objects.
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    [[commands indirectComputeCommandAtIndex:0]
        setComputePipelineState:indirect_pipeline(device, kIncrement)];
    encode(on, commands, {});
  }
  run(on);
  expect_nothing_said();
  on = [queue commandBuffer];
  @autoreleasepool {
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    increments(commands, 0, buffer(4));
    encode(on, commands, {x});
  }
  [on commit];
  expect_said("commit: the buffer was deallocated after commands that use it were encoded");
}

TEST_F(IndirectCommandsTest, BuffersAreResident) {
  id<MTLBuffer> x = buffer(4);
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  increments(commands, 0, x);
  constexpr const char* kAbsent =
      "executeCommandsInBuffer: command 0 of an indirect command buffer: the buffer is not "
      "resident: it must be named by useResource or useHeap, or be in a residency set";
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusError);
  expect_said(kAbsent);
  EXPECT_EQ(execute(commands, {x}, MTLResourceUsageRead), MTLCommandBufferStatusError);
  id<MTLCommandBuffer> on = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
  use(encoder, {x});  // too late
  [encoder endEncoding];
  run(on);
  expect_said(kAbsent);
  EXPECT_EQ(execute(commands, {x}), MTLCommandBufferStatusCompleted);
  id<MTLResidencySet> set =
      [[device newResidencySetWithDescriptor:[[MTLResidencySetDescriptor new] autorelease]
                                       error:nullptr] autorelease];
  [queue addResidencySet:set];
  [set addAllocation:x];
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusError) << "that is not committed";
  expect_said(kAbsent);
  [set commit];
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusCompleted);
  EXPECT_EQ(contents<int>(x)[0], 2);
}

TEST_F(IndirectCommandsTest, HeapsMakeBuffersReadable) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  d.size = 1024;
  d.storageMode = MTLStorageModeShared;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  id<MTLBuffer> from = [[heap newBufferWithLength:4 options:0] autorelease], to = buffer(4);
  contents<int>(from)[0] = 6;
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  id<MTLIndirectComputeCommand> command = increments(
      commands, 0, to,
      indirect_pipeline(device, "kernel void copy(device int* to [[buffer(0)]], "
                                "device const int* from [[buffer(1)]]) { to[0] = from[0]; }"));
  [command setKernelBuffer:from offset:0 atIndex:1];
  for (const bool uses_heap : {false, true}) {
    id<MTLCommandBuffer> on = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    use(encoder, {to});
    if (uses_heap) [encoder useHeap:heap];
    [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    run(on);
    if (!uses_heap) expect_said("the buffer is not resident");
  }
  EXPECT_EQ(contents<int>(to)[0], 6);
}

TEST_F(IndirectCommandsTest, LeaveNoArgumentsBehind) {
  id<MTLBuffer> x = buffer(4);
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  increments(commands, 0, x);
  id<MTLCommandBuffer> on = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
  use(encoder, {x});
  dispatch(encoder, add, x);
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
  [encoder dispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  expect_said("dispatchThreadgroups: no pipeline state is set (executeCommandsInBuffer leaves "
              "pipeline and arguments undefined)");
  [encoder setComputePipelineState:add];
  [encoder dispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  expect_said("buffer 0, \"x\", is not bound (executeCommandsInBuffer leaves pipeline");
  dispatch(encoder, add, x);
  // Resident resources stay resident.
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
  [encoder endEncoding];
  run(on);
  EXPECT_EQ(contents<int>(x)[0], 4);
}

TEST_F(IndirectCommandsTest, LeaveNothingBoundOfAnyKind) {
  id<MTLComputePipelineState> reads = pipeline(
      "kernel void f(constant int& a [[buffer(0)]], texture2d<float> t [[texture(0)]], "
      "sampler s [[sampler(0)]], threadgroup int* m [[threadgroup(0)]], "
      "device float* x [[buffer(1)]]) { m[0] = a; x[0] = m[0] + t.sample(s, float2(0.5f)).x; }");
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  id<MTLTexture> t = texture(descriptor(2, 2));
  id<MTLSamplerState> s =
      [[device newSamplerStateWithDescriptor:[[MTLSamplerDescriptor new] autorelease]] autorelease];
  id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
  const int one = 1;
  const auto set = [&](int i) {
    if (i == 0) [encoder setBytes:&one length:4 atIndex:0];
    if (i == 1) [encoder setTexture:t atIndex:0];
    if (i == 2) [encoder setSamplerState:s atIndex:0];
    if (i == 3) [encoder setThreadgroupMemoryLength:16 atIndex:0];
    if (i == 4) [encoder setBuffer:buffer(4) offset:0 atIndex:1];
  };
  for (int i = 0; i < 5; ++i) set(i);
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
  [encoder setComputePipelineState:reads];
  constexpr const char* kNames[] = {"buffer 0", "texture 0", "sampler 0", "threadgroup memory 0",
                                    "buffer 1"};
  for (int i = 0; i < 5; ++i) {
    [encoder dispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
    expect_said(kNames[i]);
    set(i);
  }
  [encoder dispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  [encoder endEncoding];
}

TEST_F(IndirectCommandsTest, MayOnlyUsePipelinesThatTheEncoderHasUsed) {
  id<MTLCommandQueue> old = [[discrete newCommandQueue] autorelease];
  id<MTLBuffer> x = buffer_of(discrete, 4);
  id<MTLIndirectCommandBuffer> commands = commands_of(discrete, 1);
  id<MTLComputePipelineState> its = indirect_pipeline(discrete, kIncrement),
                              other = indirect_pipeline(discrete, kIncrement);
  increments(commands, 0, x, its);
  const auto run_after = [&](const std::function<void(id<MTLComputeCommandEncoder>)>& before) {
    id<MTLCommandBuffer> on = [old commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    before(encoder);
    use(encoder, {x});
    [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    run(on);
    return [on status];
  };
  constexpr const char* kFault = "command 0 of an indirect command buffer: GPUs before family "
                                 "Apple9 fault unless the encoder itself has used the pipeline";
  EXPECT_EQ(run_after([](id) {}), MTLCommandBufferStatusError);
  expect_said(kFault);
  run_after([&](id<MTLComputeCommandEncoder> encoder) { [encoder setComputePipelineState:its]; });
  expect_said(kFault);
  run_after([&](id<MTLComputeCommandEncoder> encoder) { use_first(encoder, {other}); });
  expect_said(kFault);
  EXPECT_EQ(
      run_after([&](id<MTLComputeCommandEncoder> encoder) { use_first(encoder, {its, other}); }),
      MTLCommandBufferStatusCompleted);
  EXPECT_FALSE([discrete supportsFamily:MTLGPUFamilyApple9]);
  EXPECT_TRUE([device supportsFamily:MTLGPUFamilyApple9]) << "which has no such rule";
}

}  // namespace
}  // namespace softmetal
