#include "runtime/drivers/metal/commands/samples.h"

#include <array>

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {
namespace {

// The samples that fit in the 32 KiB that Apple's GPUs allow.
constexpr std::uint32_t kBufferSamples = 32768 / sizeof(MTLCounterResultTimestamp);
constexpr std::size_t kMostFreeBuffers = 4;

id<MTLCounterSet> timestamps(id<MTLDevice> device) {
  for (id<MTLCounterSet> set in device.counterSets)
    if ([set.name isEqualToString:MTLCommonCounterSetTimestamp]) return set;
  return nil;
}

SamplingPoint sampling_point(MetalDevice* device) {
  const auto samples = [&](MTLCounterSamplingPoint point) {
    return [objc(device) supportsCounterSampling:point];
  };
  if (timestamps(objc(device)) == nil) return SamplingPoint::None;
  if (samples(MTLCounterSamplingPointAtStageBoundary)) return SamplingPoint::Encoders;
  return samples(MTLCounterSamplingPointAtDispatchBoundary) &&
                 samples(MTLCounterSamplingPointAtBlitBoundary)
             ? SamplingPoint::Commands
             : SamplingPoint::None;
}

bool was_taken(std::uint64_t time, std::uint64_t first) {
  return time != 0 && time != MTLCounterErrorValue && static_cast<std::int64_t>(time - first) >= 0;
}

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> SamplePair::ticks(
    std::uint64_t first) const {
  NSData* const data = [objc(buffer) resolveCounterRange:NSMakeRange(begin, 2)];
  std::array<MTLCounterResultTimestamp, 2> times = {};
  if (data.length < sizeof times) return {};
  [data getBytes:times.data() length:sizeof times];
  if (!was_taken(times[0].timestamp, first) || !was_taken(times[1].timestamp, first)) return {};
  return std::pair(times[0].timestamp, times[1].timestamp);
}

Samples::Samples(const Context& context)
    : context_(context),
      point_(context.profile() == nullptr ? SamplingPoint::None
                                          : sampling_point(context.device())) {}

ClockMoment Samples::now() const {
  MTLTimestamp host = 0, device = 0;
  [objc(context_.device()) sampleTimestamps:&host gpuTimestamp:&device];
  return {.profile = ProfileClock::now(), .host = host, .device = device};
}

Handle<MetalSamples> Samples::make() const {
  MTLCounterSampleBufferDescriptor* descriptor =
      [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
  descriptor.counterSet = timestamps(objc(context_.device()));
  descriptor.storageMode = MTLStorageModeShared;
  descriptor.sampleCount = kBufferSamples;
  return adopt<MetalSamples>(
      [objc(context_.device()) newCounterSampleBufferWithDescriptor:descriptor error:nullptr]);
}

Handle<MetalSamples> Samples::take() {
  if (point_ == SamplingPoint::None || has_given_up_) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Handle<MetalSamples> buffer = std::move(free_.back());
      free_.pop_back();
      return buffer;
    }
  }
  return make();
}

void Samples::give_back(std::vector<Handle<MetalSamples>>& buffers) {
  const std::lock_guard lock(mutex_);
  for (Handle<MetalSamples>& buffer : buffers)
    if (free_.size() < kMostFreeBuffers) free_.push_back(std::move(buffer));
  buffers.clear();
}

SamplePair SamplePairs::take() {
  if (buffers_.empty() || used_ == kBufferSamples) {
    Handle<MetalSamples> buffer = samples_.take();
    if (!buffer) return {};
    buffers_.push_back(std::move(buffer));
    used_ = 0;
  }
  const SamplePair pair{buffers_.back().get(), used_};
  used_ += 2;
  return pair;
}

}  // namespace texloom::hal::metal
