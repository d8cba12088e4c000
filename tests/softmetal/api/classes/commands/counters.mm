#include "tests/softmetal/api/classes/commands/counters.h"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/device.h"

using softmetal::report_misuse;
using softmetal::Run;

MTLCommonCounter const MTLCommonCounterTimestamp = @"GPUTimestamp";
MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";
NSString* const MTLCounterErrorDomain = @"MTLCounterErrorDomain";

@implementation MTLCounterSampleBufferDescriptor
@synthesize counterSet = set_, label = label_, storageMode = mode_, sampleCount = count_;
- (instancetype)init {
  self = [super init];
  label_ = @"";
  return self;
}
- (void)dealloc {
  [set_ release];
  [label_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLCounterSampleBufferDescriptor* d =
      [[MTLCounterSampleBufferDescriptor allocWithZone:zone] init];
  d.counterSet = set_;
  d.label = label_;
  d.storageMode = mode_;
  d.sampleCount = count_;
  return d;
}
@end

@interface SMCounter : NSObject <MTLCounter>
@end

@implementation SMCounter
- (NSString*)name {
  return MTLCommonCounterTimestamp;
}
@end

@interface SMCounterSet : NSObject <MTLCounterSet>
@end

@implementation SMCounterSet
- (NSString*)name {
  return MTLCommonCounterSetTimestamp;
}
- (NSArray<id<MTLCounter>>*)counters {
  return [NSArray arrayWithObject:[[SMCounter new] autorelease]];
}
@end

namespace softmetal {
namespace {

// The limit of a sample buffer: 32 KiB, as on Apple's GPUs.
constexpr size_t kMostSamples = 32768 / sizeof(MTLCounterResultTimestamp);

template <typename Descriptor>
std::vector<PassSamples> samples_in(Descriptor* descriptor) {
  std::vector<PassSamples> samples;
  for (NSUInteger i = 0; i < kPassSampleBuffers; ++i) {
    auto* const each = [descriptor.sampleBufferAttachments objectAtIndexedSubscript:i];
    if (each.sampleBuffer == nil) continue;
    samples.push_back({(SMCounterSampleBuffer*)each.sampleBuffer, each.startOfEncoderSampleIndex,
                       each.endOfEncoderSampleIndex});
  }
  return samples;
}

std::string problem_of(MTLCounterSampleBufferDescriptor* descriptor) {
  if (descriptor.counterSet != timestamp_set()) return "the counter set must be one of the device";
  if (descriptor.storageMode != MTLStorageModeShared)
    return "the storage mode must be MTLStorageModeShared, which the host can resolve";
  if (descriptor.sampleCount == 0 || descriptor.sampleCount > kMostSamples)
    return "a sample buffer has from 1 to " + std::to_string(kMostSamples) + " samples, not " +
           std::to_string(descriptor.sampleCount);
  return {};
}

std::atomic<uint64_t> clock_step = 0, stepped_clock = 0;

uint64_t system_time() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

void CounterSamples::set(size_t index, uint64_t time) {
  const std::lock_guard lock(mutex_);
  times_[index] = time;
}

std::vector<uint64_t> CounterSamples::times(size_t begin, size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto first = times_.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

uint64_t host_time() {
  if (const uint64_t step = clock_step) return stepped_clock.fetch_add(step);
  return system_time();
}

// The clock starts at a whole microsecond, so that steps of microseconds are whole ticks.
void step_clock(uint64_t nanoseconds) {
  stepped_clock = system_time() / 1000 * 1000;
  clock_step = nanoseconds;
}

uint64_t device_time(const DeviceModel& model, uint64_t host_time) {
  return model.clock_start + host_time / 1000 * model.clock_megahertz +
         host_time % 1000 * model.clock_megahertz / 1000;
}

id<MTLCounterSet> timestamp_set() {
  static SMCounterSet* const set = [SMCounterSet new];
  return set;
}

id<MTLCounterSampleBuffer> new_sample_buffer(id<MTLDevice> device,
                                             MTLCounterSampleBufferDescriptor* descriptor,
                                             NSError** error) {
  const std::string problem = problem_of(descriptor);
  if (!problem.empty()) {
    set_error(error, MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid, problem);
    return nil;
  }
  if (must_fail("newCounterSampleBufferWithDescriptor:error:")) {
    set_error(error, MTLCounterErrorDomain, MTLCounterSampleBufferErrorOutOfMemory, kFaultText);
    return nil;
  }
  SMCounterSampleBuffer* const buffer =
      [[SMCounterSampleBuffer alloc] initWithDevice:device kind:"counter sample buffer"];
  [buffer setLabel:descriptor.label];
  buffer->samples_ =
      new std::shared_ptr<CounterSamples>(std::make_shared<CounterSamples>(descriptor.sampleCount));
  return buffer;
}

std::vector<PassSamples> samples_of(MTLComputePassDescriptor* descriptor) {
  return samples_in(descriptor);
}
std::vector<PassSamples> samples_of(MTLBlitPassDescriptor* descriptor) {
  return samples_in(descriptor);
}

std::string problem_of(const std::vector<PassSamples>& samples, id<MTLDevice> device) {
  if (samples.empty()) return {};
  if (![device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary])
    return "the device does not sample counters at stage boundaries";
  for (const PassSamples& each : samples) {
    if ([each.buffer device] != device) return "the sample buffer belongs to another device";
    const NSUInteger count = [each.buffer sampleCount];
    for (const NSUInteger index : {each.start, each.end}) {
      if (index != MTLCounterDontSample && index >= count)
        return "the sample index " + std::to_string(index) + " must be below " +
               std::to_string(count);
    }
  }
  return {};
}

}  // namespace softmetal

@implementation SMCounterSampleBuffer
- (void)dealloc {
  delete samples_;
  [super dealloc];
}
- (NSUInteger)sampleCount {
  return (*samples_)->count();
}
- (NSData*)resolveCounterRange:(NSRange)range {
  const size_t count = (*samples_)->count();
  if (range.location > count || range.length > count - range.location) {
    report_misuse("resolveCounterRange: the range must lie in the sample buffer");
    return nil;
  }
  if ((*state_)->in_flight > 0) {
    report_misuse("resolveCounterRange: a command buffer that samples has not completed");
    return nil;
  }
  if (softmetal::must_fail("resolveCounterRange:")) return nil;
  const std::vector<uint64_t> times = (*samples_)->times(range.location, range.length);
  return [NSData dataWithBytes:times.data() length:times.size() * sizeof(uint64_t)];
}
@end

@implementation SMEncoder (Counters)
- (void)sample:(SMCounterSampleBuffer*)buffer at:(NSUInteger)index {
  if (index == MTLCounterDontSample) return;
  [commands_ need:buffer];
  const std::shared_ptr<softmetal::CounterSamples> samples = *buffer->samples_;
  const softmetal::DeviceModel& model = *((SMDevice*)device_)->model_;
  [commands_ record:[=, &model](Run&) {
    if (!softmetal::drops_samples())
      samples->set(index, softmetal::device_time(model, softmetal::host_time()));
    return std::string();
  }];
}
// The barrier has no effect, since the software Metal runs commands sequentially.
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier {
  (void)barrier;
  const bool is_blit = [self isKindOfClass:[SMBlitEncoder class]];
  if (![self mayEncode:"sampleCountersInBuffer"] ||
      ![self owns:buffer as:"sampleCountersInBuffer: the sample buffer"])
    return;
  if (![device_ supportsCounterSampling:is_blit ? MTLCounterSamplingPointAtBlitBoundary
                                                : MTLCounterSamplingPointAtDispatchBoundary])
    return report_misuse("sampleCountersInBuffer: the device does not sample counters between "
                         "commands");
  if (index >= [buffer sampleCount])
    return report_misuse("sampleCountersInBuffer: the sample index " + std::to_string(index) +
                         " must be below " + std::to_string([buffer sampleCount]));
  [self sample:(SMCounterSampleBuffer*)buffer at:index];
}
@end
