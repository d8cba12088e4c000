// Tests misuses of indirect command buffers, and their messages.
#include "tests/softmetal/unit/api_indirect.h"

namespace softmetal {
namespace {

using IndirectRules = IndirectTest;

TEST_F(IndirectRules, BuffersOfCommandsHaveLimits) {
  const auto refused = [&](MTLIndirectCommandBufferDescriptor* d, NSUInteger count) {
    EXPECT_EQ(commands_with(d, count), nil);
  };
  constexpr const char* kTypes =
      "newIndirectCommandBufferWithDescriptor: the command types must be concurrent dispatches";
  MTLIndirectCommandBufferDescriptor* d = indirect_descriptor();
  d.commandTypes = 0;
  refused(d, 1);
  expect_said(kTypes);
  d.commandTypes = MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeDraw;
  refused(d, 1);
  expect_said(kTypes);
  d = indirect_descriptor();
  refused(d, 0);
  expect_said("maxCommandCount must be from 1 to 16384");
  refused(d, 16385);
  expect_said("maxCommandCount must be from 1 to 16384");
  EXPECT_EQ([commands_with(d, 16384) size], 16384U);
  d.maxKernelBufferBindCount = 32;
  refused(d, 1);
  expect_said("maxKernelBufferBindCount is over the limit of 31");
  refused((MTLIndirectCommandBufferDescriptor* _Nonnull)nil, 1);
  expect_said("the descriptor must not be nil");
  EXPECT_EQ([device newIndirectCommandBufferWithDescriptor:indirect_descriptor()
                                           maxCommandCount:1
                                                   options:MTLResourceStorageModeMemoryless],
            nil);
  expect_said("MTLStorageModeMemoryless is for textures alone");
}

TEST_F(IndirectRules, MakingThemMayFail) {
  fail_call(1);
  EXPECT_EQ(commands_of(device, 1), nil);
  EXPECT_EQ(failed_call(), "newIndirectCommandBuffer");
  fail_call(0);
}

TEST_F(IndirectRules, CommandsHavePlaces) {
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 3);
  EXPECT_EQ([commands indirectComputeCommandAtIndex:3], nil);
  expect_said("indirectComputeCommandAtIndex: the index must be below 3");
  [commands resetWithRange:NSMakeRange(2, 2)];
  expect_said("resetWithRange: the indirect command buffer has 3 commands");
  id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:2];
  [command setKernelBuffer:buffer(4) offset:0 atIndex:2];
  expect_said(
      "setKernelBuffer: the index must be below maxKernelBufferBindCount of the descriptor");
  [command setKernelBuffer:buffer(4) offset:4 atIndex:1];
  expect_said("setKernelBuffer: the offset must lie in the buffer");
  [command setKernelBuffer:(id<MTLBuffer> _Nonnull)nil offset:0 atIndex:1];
  expect_said("setKernelBuffer: the buffer must not be nil");
  [command setThreadgroupMemoryLength:8 atIndex:0];
  expect_said("setThreadgroupMemoryLength of an indirect command: the length must be a multiple of "
              "16 bytes");
  [command setThreadgroupMemoryLength:16 atIndex:0];
  expect_said("maxKernelThreadgroupMemoryBindCount, which is not there, allows none");
}

TEST_F(IndirectRules, CommandsSetWhatTheyDoNotInherit) {
  MTLIndirectCommandBufferDescriptor* const d = indirect_descriptor();
  d.inheritBuffers = YES;
  [[commands_with(d, 1) indirectComputeCommandAtIndex:0] setKernelBuffer:buffer(4)
                                                                  offset:0
                                                                 atIndex:0];
  expect_said("setKernelBuffer: buffers are inherited, as the descriptor says (inheritBuffers)");
  d.inheritPipelineState = YES;
  [[commands_with(d, 1) indirectComputeCommandAtIndex:0] setComputePipelineState:add];
  expect_said("setComputePipelineState of an indirect command: the pipeline state is inherited, as "
              "the descriptor says (inheritPipelineState)");
}

TEST_F(IndirectRules, ObjectsBelongToTheDevice) {
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:0];
  [command setComputePipelineState:indirect_pipeline(discrete, kIncrement)];
  expect_said(
      "setComputePipelineState of an indirect command: the state belongs to another device");
  [command setComputePipelineState:(id<MTLComputePipelineState> _Nonnull)nil];
  expect_said("setComputePipelineState of an indirect command: the state must not be nil");
  [command setKernelBuffer:buffer_of(discrete, 4) offset:0 atIndex:0];
  expect_said("setKernelBuffer: the buffer belongs to another device");
  id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
  [encoder executeCommandsInBuffer:commands_of(discrete, 1) withRange:NSMakeRange(0, 1)];
  expect_said("executeCommandsInBuffer: the indirect command buffer belongs to another device");
  [encoder endEncoding];
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
  expect_said("executeCommandsInBuffer: the command encoder has ended");
}

TEST_F(IndirectRules, DispatchesAreOfTheTypesOfTheDescriptor) {
  constexpr const char* kNone = ": commandTypes of the descriptor does not have such dispatches";
  MTLIndirectCommandBufferDescriptor* const d = indirect_descriptor();
  d.commandTypes = MTLIndirectCommandTypeConcurrentDispatchThreads;
  id<MTLIndirectComputeCommand> command = [commands_with(d, 1) indirectComputeCommandAtIndex:0];
  [command setComputePipelineState:add];
  [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  expect_said((std::string("concurrentDispatchThreadgroups") + kNone).c_str());
  d.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  command = [commands_with(d, 1) indirectComputeCommandAtIndex:0];
  [command setComputePipelineState:add];
  [command concurrentDispatchThreads:kOne threadsPerThreadgroup:kOne];
  expect_said((std::string("concurrentDispatchThreads") + kNone).c_str());
}

TEST_F(IndirectRules, DispatchesFitTheirPipeline) {
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
  id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:0];
  [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  expect_said("concurrentDispatchThreadgroups: no pipeline state is set");
  [command setComputePipelineState:indirect_pipeline(device,
                                                     "[[max_total_threads_per_threadgroup(32)]]\n"
                                                     "kernel void f(device int* x [[buffer(0)]]) "
                                                     "{ x[0] = 1; }")];
  [command concurrentDispatchThreads:kOne threadsPerThreadgroup:MTLSizeMake(11, 3, 1)];
  expect_said("concurrentDispatchThreads: more threads per threadgroup than "
              "maxTotalThreadsPerThreadgroup of the pipeline, 32");
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusCompleted) << "it has no dispatch";
  [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusError);
  expect_said("command 0 of an indirect command buffer: buffer 0, \"x\", is not bound");
  [command concurrentDispatchThreadgroups:MTLSizeMake(0, 1, 1) threadsPerThreadgroup:kOne];
  EXPECT_EQ(execute(commands, {}), MTLCommandBufferStatusCompleted) << "nothing runs";
  [command concurrentDispatchThreads:kOne threadsPerThreadgroup:MTLSizeMake(1, 0, 1)];
  expect_said("concurrentDispatchThreads: more threads per threadgroup than");
}

TEST_F(IndirectRules, CommandsTakeNothingFromTheEncoder) {
  const auto run_command = [&](const char* source) {
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    id<MTLIndirectComputeCommand> command = [commands indirectComputeCommandAtIndex:0];
    [command setComputePipelineState:indirect_pipeline(device, source)];
    [command concurrentDispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
    id<MTLCommandBuffer> on = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoder];
    [encoder setBuffer:buffer(4) offset:0 atIndex:0];
    [encoder setThreadgroupMemoryLength:16 atIndex:0];
    [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    run(on);
  };
  run_command(kIncrement);
  expect_said("command 0 of an indirect command buffer: buffer 0, \"x\", is not bound");
  run_command("kernel void f(threadgroup int* m [[threadgroup(0)]]) { m[0] = 1; }");
  expect_said("command 0 of an indirect command buffer: threadgroup memory 0, \"m\", has no size");
}

TEST_F(IndirectRules, ExecutionsKeepToTheBuffer) {
  id<MTLIndirectCommandBuffer> commands = commands_of(device, 2);
  id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(1, 2)];
  expect_said("executeCommandsInBuffer: the range must lie in the indirect command buffer, which "
              "has 2 commands");
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(3, 0)];
  expect_said("executeCommandsInBuffer: the range must lie in the indirect command buffer");
  [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 16385)];
  expect_said("executeCommandsInBuffer: the range is over the limit of 16384 commands");
  [encoder executeCommandsInBuffer:(id<MTLIndirectCommandBuffer> _Nonnull)nil
                         withRange:NSMakeRange(0, 1)];
  expect_said("executeCommandsInBuffer: the indirect command buffer must not be nil");
  [encoder endEncoding];
}

TEST_F(IndirectRules, PipelinesSayWhetherCommandsMayUseThem) {
  EXPECT_TRUE([add supportIndirectCommandBuffers]);
  id<MTLComputePipelineState> direct = increment();
  EXPECT_FALSE([direct supportIndirectCommandBuffers]);
  [[commands_of(device, 1) indirectComputeCommandAtIndex:0] setComputePipelineState:direct];
  expect_said("setComputePipelineState of an indirect command: the pipeline state was made without "
              "supportIndirectCommandBuffers");
}

TEST_F(IndirectRules, PipelinesForCommandsTakeNoTexturesOrSamplers) {
  const auto refusal = [&](const char* source) {
    NSError* error = nil;
    EXPECT_EQ(indirect_pipeline(device, source, &error), nil);
    return std::string([[error localizedDescription] UTF8String]);
  };
  EXPECT_EQ(refusal("kernel void f(texture2d<float, access::write> t [[texture(0)]]) "
                    "{ t.write(float4(1.0f), uint2(0, 0)); }"),
            "Compute function cannot be used with indirect command buffers: kernel \"f\" takes the "
            "texture \"t\" as an argument; an argument buffer may refer to it");
  EXPECT_EQ(refusal("kernel void f(sampler s [[sampler(0)]]) {}"),
            "Compute function cannot be used with indirect command buffers: kernel \"f\" takes the "
            "sampler \"s\" as an argument; an argument buffer may refer to it");
  EXPECT_NE(
      indirect_pipeline(device, "struct Args { texture2d<float, access::write> t [[id(0)]]; };\n"
                                "kernel void f(constant Args& a [[buffer(0)]]) "
                                "{ a.t.write(float4(1.0f), uint2(0, 0)); }"),
      nil);
}

}  // namespace
}  // namespace softmetal
