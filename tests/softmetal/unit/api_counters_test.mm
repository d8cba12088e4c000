// Tests counter sample buffers: their contents after commands have run, and their misuses.
#include <vector>

#include "tests/softmetal/api/classes/commands/counters.h"
#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

class Counters : public ApiTest {
 protected:
  static MTLCounterSampleBufferDescriptor* sample_descriptor(id<MTLDevice> device,
                                                             NSUInteger count) {
    MTLCounterSampleBufferDescriptor* const d =
        [[MTLCounterSampleBufferDescriptor new] autorelease];
    d.counterSet = [device.counterSets objectAtIndex:0];
    d.storageMode = MTLStorageModeShared;
    d.sampleCount = count;
    return d;
  }
  static id<MTLCounterSampleBuffer> samples_of(id<MTLDevice> device, NSUInteger count) {
    return [[device newCounterSampleBufferWithDescriptor:sample_descriptor(device, count)
                                                   error:nullptr] autorelease];
  }
  static std::vector<uint64_t> resolved(id<MTLCounterSampleBuffer> samples) {
    NSData* const data = [samples resolveCounterRange:NSMakeRange(0, samples.sampleCount)];
    const auto* const times = static_cast<const uint64_t*>([data bytes]);
    return {times, times + [data length] / sizeof(uint64_t)};
  }
  static MTLComputePassDescriptor* pass(id<MTLCounterSampleBuffer> samples, NSUInteger start,
                                        NSUInteger end) {
    MTLComputePassDescriptor* const d = [MTLComputePassDescriptor computePassDescriptor];
    MTLComputePassSampleBufferAttachmentDescriptor* const attachment =
        [d.sampleBufferAttachments objectAtIndexedSubscript:0];
    attachment.sampleBuffer = samples;
    attachment.startOfEncoderSampleIndex = start;
    attachment.endOfEncoderSampleIndex = end;
    return d;
  }
  static uint64_t time_of(id<MTLDevice> device) {
    MTLTimestamp cpu = 0, gpu = 0;
    [device sampleTimestamps:&cpu gpuTimestamp:&gpu];
    return gpu;
  }
  static void expect_rising(const std::vector<uint64_t>& times) {
    for (size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i - 1], times[i]) << i;
  }
};

TEST_F(Counters, DevicesSampleAtTheirBoundaries) {
  ASSERT_EQ([device.counterSets count], 1U);
  id<MTLCounterSet> set = [device.counterSets objectAtIndex:0];
  EXPECT_TRUE([set.name isEqualToString:MTLCommonCounterSetTimestamp]);
  EXPECT_TRUE([[[set.counters objectAtIndex:0] name] isEqualToString:MTLCommonCounterTimestamp]);
  const auto points = [](id<MTLDevice> of) {
    std::vector<int> found;
    for (int point = 0; point <= 4; ++point)
      if ([of supportsCounterSampling:static_cast<MTLCounterSamplingPoint>(point)])
        found.push_back(point);
    return found;
  };
  EXPECT_EQ(points(device), (std::vector<int>{MTLCounterSamplingPointAtStageBoundary}));
  EXPECT_EQ(points(discrete), (std::vector<int>{MTLCounterSamplingPointAtDispatchBoundary,
                                                MTLCounterSamplingPointAtBlitBoundary}));
}

// Each device's clock has its own tick, which follows from two readings.
TEST_F(Counters, ClocksOfDevicesHaveTheirOwnTicks) {
  for (id<MTLDevice> each in devices) {
    MTLTimestamp cpu[2], gpu[2];
    [each sampleTimestamps:&cpu[0] gpuTimestamp:&gpu[0]];
    do [each sampleTimestamps:&cpu[1] gpuTimestamp:&gpu[1]];
    while (cpu[1] - cpu[0] < 1000000);
    // The tolerance is two roundings to ticks.
    const double expected = static_cast<double>(cpu[1] - cpu[0]) * (each == device ? 1 : 0.027);
    EXPECT_NEAR(static_cast<double>(gpu[1] - gpu[0]), expected, 2);
    EXPECT_NE(cpu[0], gpu[0]);
  }
}

TEST_F(Counters, TheClockTakesStepsThatTestsSet) {
  step_clock(2000);
  for (id<MTLDevice> each in devices) {
    MTLTimestamp cpu[2], gpu[2];
    for (int i = 0; i < 2; ++i) [each sampleTimestamps:&cpu[i] gpuTimestamp:&gpu[i]];
    EXPECT_EQ(cpu[1] - cpu[0], 2000U);
    EXPECT_EQ(gpu[1] - gpu[0], each == device ? 2000U : 54U);
  }
  step_clock(0);
}

TEST_F(Counters, EncodersAreSampledAtTheirEnds) {
  id<MTLCounterSampleBuffer> samples = samples_of(device, 6);
  const uint64_t before = time_of(device);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> compute =
      [commands computeCommandEncoderWithDescriptor:pass(samples, 0, 1)];
  dispatch(compute, increment(), buffer(4));
  [compute endEncoding];
  MTLBlitPassDescriptor* const d = [MTLBlitPassDescriptor blitPassDescriptor];
  MTLBlitPassSampleBufferAttachmentDescriptor* const attachment =
      [[MTLBlitPassSampleBufferAttachmentDescriptor new] autorelease];
  attachment.sampleBuffer = samples;
  attachment.startOfEncoderSampleIndex = 2;
  attachment.endOfEncoderSampleIndex = 3;
  [d.sampleBufferAttachments setObject:attachment atIndexedSubscript:3];
  id<MTLBlitCommandEncoder> blit =
      [commands blitCommandEncoderWithDescriptor:[[d copy] autorelease]];
  [blit fillBuffer:buffer(4) range:NSMakeRange(0, 4) value:1];
  [blit endEncoding];
  compute = [commands computeCommandEncoderWithDescriptor:pass(samples, MTLCounterDontSample, 4)];
  [compute endEncoding];
  EXPECT_EQ(resolved(samples), std::vector<uint64_t>(6)) << "nothing has run";
  run(commands);
  std::vector<uint64_t> times = resolved(samples);
  ASSERT_EQ(times.size(), 6U);
  EXPECT_EQ(times[5], 0U) << "nobody samples it";
  times[5] = time_of(device);
  times.insert(times.begin(), before);
  expect_rising(times);
}

TEST_F(Counters, CommandsAreSampledInBetween) {
  id<MTLCommandQueue> other = [[discrete newCommandQueue] autorelease];
  id<MTLCounterSampleBuffer> samples = samples_of(discrete, 3);
  id<MTLCommandBuffer> commands = [other commandBuffer];
  id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
  [compute sampleCountersInBuffer:samples atSampleIndex:0 withBarrier:YES];
  dispatch(compute,
           pipeline_of(discrete, "kernel void one(device int* x [[buffer(0)]]) { x[0] = 1; }"),
           buffer_of(discrete, 4));
  [compute sampleCountersInBuffer:samples atSampleIndex:1 withBarrier:YES];
  [compute endEncoding];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit sampleCountersInBuffer:samples atSampleIndex:2 withBarrier:NO];
  [blit endEncoding];
  const uint64_t before = time_of(discrete);
  run(commands);
  std::vector<uint64_t> times = resolved(samples);
  ASSERT_EQ(times.size(), 3U);
  times.insert(times.begin(), before);
  times.push_back(time_of(discrete));
  expect_rising(times);
}

TEST_F(Counters, SampleBuffersHaveLimits) {
  const auto refused = [&](MTLCounterSampleBufferDescriptor* d) -> std::string {
    NSError* error = nil;
    EXPECT_EQ([device newCounterSampleBufferWithDescriptor:d error:&error], nil);
    EXPECT_TRUE([[error domain] isEqualToString:MTLCounterErrorDomain]);
    return [[error localizedDescription] UTF8String];
  };
  MTLCounterSampleBufferDescriptor* d = sample_descriptor(device, 4097);
  EXPECT_EQ(refused(d), "a sample buffer has from 1 to 4096 samples, not 4097");
  d.sampleCount = 0;
  EXPECT_EQ(refused(d), "a sample buffer has from 1 to 4096 samples, not 0");
  d.sampleCount = 4096;
  id<MTLCounterSampleBuffer> made =
      [[device newCounterSampleBufferWithDescriptor:d error:nullptr] autorelease];
  EXPECT_EQ(made.sampleCount, 4096U);
  d.storageMode = MTLStorageModePrivate;
  EXPECT_EQ(refused(d),
            "the storage mode must be MTLStorageModeShared, which the host can resolve");
  d = sample_descriptor(device, 4);
  d.counterSet = nil;
  EXPECT_EQ(refused(d), "the counter set must be one of the device");
  fail_call(1);
  EXPECT_EQ(refused(sample_descriptor(device, 4)), kFaultText);
  fail_call(0);
}

TEST_F(Counters, SamplesFitTheDevice) {
  id<MTLCounterSampleBuffer> samples = samples_of(device, 2), foreign = samples_of(discrete, 2);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  EXPECT_EQ([commands computeCommandEncoderWithDescriptor:pass(samples, 0, 2)], nil);
  expect_said("computeCommandEncoderWithDescriptor: the sample index 2 must be below 2");
  EXPECT_EQ([commands computeCommandEncoderWithDescriptor:pass(foreign, 0, 1)], nil);
  expect_said("computeCommandEncoderWithDescriptor: the sample buffer belongs to another device");
  id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
  [compute sampleCountersInBuffer:samples atSampleIndex:0 withBarrier:NO];
  expect_said("sampleCountersInBuffer: the device does not sample counters between commands");
  [compute endEncoding];
  EXPECT_EQ([samples resolveCounterRange:NSMakeRange(1, 2)], nil);
  expect_said("resolveCounterRange: the range must lie in the sample buffer");

  commands = [[[discrete newCommandQueue] autorelease] commandBuffer];
  EXPECT_EQ([commands computeCommandEncoderWithDescriptor:pass(foreign, 0, 1)], nil);
  expect_said("the device does not sample counters at stage boundaries");
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit sampleCountersInBuffer:samples atSampleIndex:0 withBarrier:NO];
  expect_said("sampleCountersInBuffer: the sample buffer belongs to another device");
  [blit sampleCountersInBuffer:foreign atSampleIndex:2 withBarrier:NO];
  expect_said("sampleCountersInBuffer: the sample index 2 must be below 2");
  [blit endEncoding];
  [blit sampleCountersInBuffer:foreign atSampleIndex:0 withBarrier:NO];
  expect_said("sampleCountersInBuffer: the command encoder has ended");
}

TEST_F(Counters, AreResolvedAfterCommandsAreComplete) {
  id<MTLCounterSampleBuffer> samples = samples_of(device, 2);
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  id<MTLCommandBuffer> commands = [queue commandBufferWithUnretainedReferences];
  [commands encodeWaitForEvent:event value:1];
  [[commands computeCommandEncoderWithDescriptor:pass(samples, 0, 1)] endEncoding];
  [commands commit];
  EXPECT_EQ([samples resolveCounterRange:NSMakeRange(0, 2)], nil);
  expect_said("resolveCounterRange: a command buffer that samples has not completed");
  [event setSignaledValue:1];
  [commands waitUntilCompleted];
  EXPECT_EQ(resolved(samples).size(), 2U);
}

}  // namespace
}  // namespace softmetal
