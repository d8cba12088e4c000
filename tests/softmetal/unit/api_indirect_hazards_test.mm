// Tests the order of indirect commands, among each other and with the encoder's other commands.
#include "tests/softmetal/unit/api_indirect.h"

namespace softmetal {
namespace {

using IndirectHazards = IndirectTest;

TEST_F(IndirectHazards, AreConcurrentInOneExecution) {
  for (const MTLDispatchType type : {MTLDispatchTypeSerial, MTLDispatchTypeConcurrent}) {
    id<MTLBuffer> x = buffer(4), y = buffer(4);
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 3);
    increments(commands, 0, x);
    increments(commands, 1, y);
    run_in(type, commands, {x, y});
    expect_nothing_said();
    id<MTLIndirectComputeCommand> last = increments(commands, 2, x);
    run_in(type, commands, {x, y});
    expect_said("hazard: kernel \"increment\" uses byte 0 of the buffer, which kernel "
                "\"increment\" writes in the same encoder");
    [last setBarrier];
    run_in(type, commands, {x, y});
    expect_nothing_said();
    [last clearBarrier];
    run_in(type, commands, {x, y});
    expect_said("hazard: ");
    // A barrier of one command also orders all later commands.
    [[commands indirectComputeCommandAtIndex:1] setBarrier];
    run_in(type, commands, {x, y});
    expect_nothing_said();
  }
}

// A kernel uses the bytes of two overlapping arguments twice, which is no hazard.
TEST_F(IndirectHazards, HaveNoHazardsWithThemselves) {
  id<MTLComputePipelineState> twice = indirect_pipeline(
      device, "kernel void twice(device int* x [[buffer(0)]], device int* y [[buffer(1)]]) "
              "{ int a = y[0]; x[0] += a; y[0] = a + 1; }");
  for (const MTLDispatchType type : {MTLDispatchTypeSerial, MTLDispatchTypeConcurrent}) {
    id<MTLBuffer> x = buffer(16);
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
    [increments(commands, 0, x, twice) setKernelBuffer:x offset:4 atIndex:1];
    run_in(type, commands, {x});
    EXPECT_EQ(contents<int>(x)[1], 1);
  }
}

TEST_F(IndirectHazards, AreOrderedAsDispatchesOutsideOfAnExecution) {
  for (const MTLDispatchType type : {MTLDispatchTypeSerial, MTLDispatchTypeConcurrent}) {
    for (const bool has_barrier : {false, true}) {
      const auto check = [&] {
        type == MTLDispatchTypeSerial || has_barrier ? expect_nothing_said()
                                                     : expect_said("hazard: ");
      };
      id<MTLBuffer> x = buffer(4);
      id<MTLIndirectCommandBuffer> commands = commands_of(device, 1);
      increments(commands, 0, x);
      run_in(type, commands, {x}, 2, has_barrier);  // executions
      check();
      for (const bool is_first : {false, true}) {
        id<MTLCommandBuffer> on = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoderWithDispatchType:type];
        use(encoder, {x});
        if (is_first) dispatch(encoder, increment(), x);
        if (is_first && has_barrier) [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
        [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 1)];
        if (!is_first && has_barrier) [encoder memoryBarrierWithResources:(id*)&x count:1];
        if (!is_first) dispatch(encoder, increment(), x);
        [encoder endEncoding];
        run(on);
        check();
      }
    }
  }
}

// Metal does not specify that indirect barriers order commands outside the execution.
TEST_F(IndirectHazards, AreNotOrderedWithOthersByTheirBarriers) {
  for (const MTLDispatchType type : {MTLDispatchTypeSerial, MTLDispatchTypeConcurrent}) {
    const auto check = [&] {
      type == MTLDispatchTypeSerial ? expect_nothing_said() : expect_said("hazard: ");
    };
    id<MTLBuffer> x = buffer(4), y = buffer(4);
    id<MTLIndirectCommandBuffer> commands = commands_of(device, 2);
    increments(commands, 0, x);
    [increments(commands, 1, y) setBarrier];
    run_in(type, commands, {x, y}, 2);
    check();
    for (const bool is_first : {false, true}) {
      id<MTLCommandBuffer> on = [queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [on computeCommandEncoderWithDispatchType:type];
      use(encoder, {x, y});
      if (is_first) dispatch(encoder, increment(), y);
      [encoder executeCommandsInBuffer:commands withRange:NSMakeRange(0, 2)];
      if (!is_first) dispatch(encoder, increment(), x);
      [encoder endEncoding];
      run(on);
      check();
    }
  }
}

}  // namespace
}  // namespace softmetal
