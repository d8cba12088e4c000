// A fixture for tests of indirect command buffers. For Objective-C++ sources only.
#pragma once

#include <vector>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {

inline constexpr const char* kIncrement = "kernel void increment(device int* x [[buffer(0)]], "
                                          "uint i [[thread_position_in_grid]]) { x[i] += 1; }";
inline const MTLSize kOne = MTLSizeMake(1, 1, 1);

class IndirectTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    add = indirect_pipeline(device, kIncrement);
  }

  // Returns the pipeline of the source's first kernel; adds the usual includes before the source.
  // The results of these functions are autoreleased.
  static id<MTLComputePipelineState> indirect_pipeline(id<MTLDevice> on, const std::string& source,
                                                       NSError** error = nullptr) {
    const std::string whole = "#include <metal_stdlib>\nusing namespace metal;\n" + source;
    id<MTLLibrary> library = [[on newLibraryWithSource:[NSString stringWithUTF8String:whole.c_str()]
                                               options:nil
                                                 error:nullptr] autorelease];
    EXPECT_NE(library, nil);
    MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
    d.supportIndirectCommandBuffers = YES;
    d.computeFunction =
        [[library newFunctionWithName:[library.functionNames objectAtIndex:0]] autorelease];
    return [[on newComputePipelineStateWithDescriptor:d options:0 reflection:nullptr
                                                error:error] autorelease];
  }
  // Returns a descriptor for commands that inherit nothing.
  static MTLIndirectCommandBufferDescriptor* indirect_descriptor() {
    MTLIndirectCommandBufferDescriptor* const d =
        [[MTLIndirectCommandBufferDescriptor new] autorelease];
    d.commandTypes =
        MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
    d.inheritPipelineState = NO;
    d.inheritBuffers = NO;
    d.maxKernelBufferBindCount = 2;
    return d;
  }
  id<MTLIndirectCommandBuffer> commands_with(MTLIndirectCommandBufferDescriptor* d,
                                             NSUInteger count) {
    return [[device newIndirectCommandBufferWithDescriptor:d maxCommandCount:count
                                                   options:0] autorelease];
  }
  static id<MTLIndirectCommandBuffer> commands_of(id<MTLDevice> on, NSUInteger count) {
    return [[on newIndirectCommandBufferWithDescriptor:indirect_descriptor()
                                       maxCommandCount:count
                                               options:0] autorelease];
  }
  // Sets a command to run one thread of the pipeline over the buffer.
  id<MTLIndirectComputeCommand> increments(id<MTLIndirectCommandBuffer> commands, NSUInteger index,
                                           id<MTLBuffer> x,
                                           id<MTLComputePipelineState> pipeline = nil) {
    id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:index];
    [command setComputePipelineState:pipeline == nil ? add : pipeline];
    [command setKernelBuffer:x offset:0 atIndex:0];
    [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
    return command;
  }
  static void use(id<MTLComputeCommandEncoder> encoder, const std::vector<id<MTLBuffer>>& used,
                  MTLResourceUsage usage = MTLResourceUsageRead | MTLResourceUsageWrite) {
    for (id<MTLBuffer> each : used) [encoder useResource:each usage:usage];
  }
  // Uses the pipeline in the encoder first, as GPUs before family Apple9 require.
  static void use_first(id<MTLComputeCommandEncoder> encoder,
                        const std::vector<id<MTLComputePipelineState>>& pipelines) {
    for (id<MTLComputePipelineState> each : pipelines) {
      [encoder setComputePipelineState:each];
      [encoder dispatchThreadgroups:MTLSizeMake(0, 0, 0) threadsPerThreadgroup:kOne];
    }
  }
  // Encodes the execution of all commands, or of a range.
  static void encode(id<MTLCommandBuffer> on, id<MTLIndirectCommandBuffer> commands,
                     const std::vector<id<MTLBuffer>>& used, NSRange range = {0, 0}) {
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    use(encoder, used);
    [encoder executeCommandsInBuffer:commands
                           withRange:range.length == 0 ? NSMakeRange(0, [commands size]) : range];
    [encoder endEncoding];
  }
  MTLCommandBufferStatus execute(id<MTLIndirectCommandBuffer> commands,
                                 const std::vector<id<MTLBuffer>>& used,
                                 MTLResourceUsage usage = MTLResourceUsageRead |
                                                          MTLResourceUsageWrite) {
    id<MTLCommandBuffer> on = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    use(encoder, used, usage);
    [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, [commands size])];
    [encoder endEncoding];
    run(on);
    return [on status];
  }
  // Executes all commands a number of times, in an encoder of the type.
  void run_in(MTLDispatchType type, id<MTLIndirectCommandBuffer> commands,
              const std::vector<id<MTLBuffer>>& used, int times = 1, bool has_barriers = false) {
    id<MTLCommandBuffer> on = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoderWithDispatchType:type];
    use(encoder, used);
    for (int i = 0; i < times; ++i) {
      [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, [commands size])];
      if (has_barriers) [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    }
    [encoder endEncoding];
    run(on);
  }

  id<MTLComputePipelineState> add = nil;  // may be used by indirect commands
};

}  // namespace softmetal
