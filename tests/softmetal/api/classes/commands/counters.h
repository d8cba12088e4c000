// Counter sample buffers, which have the times of encoders and commands. For Objective-C++ sources
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/softmetal/api/classes/models.h"
#include "tests/softmetal/api/classes/object.h"

namespace softmetal {

// The samples of a buffer, which commands write after they have run. Thread safe.
class CounterSamples {
 public:
  explicit CounterSamples(size_t count) : times_(count) {}
  size_t count() const { return times_.size(); }
  void set(size_t index, uint64_t time);
  std::vector<uint64_t> times(size_t begin, size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> times_;  // 0 where nothing was sampled yet
};

}  // namespace softmetal

@interface SMCounterSampleBuffer : SMObject <MTLCounterSampleBuffer> {
 @public
  std::shared_ptr<softmetal::CounterSamples>* samples_;
}
@end

namespace softmetal {

// The host's clock in nanoseconds, and what the device's clock shows at such a moment.
uint64_t host_time();
// Lets each reading of that clock be so many nanoseconds after the one before, for tests that
// expect exact times; 0, as at first, lets it show the time of the system.
void step_clock(uint64_t nanoseconds);
uint64_t device_time(const DeviceModel& model, uint64_t host_time);

// One set of one counter. Lives as long as the program.
id<MTLCounterSet> timestamp_set();
id<MTLCounterSampleBuffer> new_sample_buffer(id<MTLDevice> device,
                                             MTLCounterSampleBufferDescriptor* descriptor,
                                             NSError** error);

// What an encoder samples when it begins and ends, unless an index is MTLCounterDontSample.
struct PassSamples {
  SMCounterSampleBuffer* buffer = nil;
  NSUInteger start = 0, end = 0;
};
std::vector<PassSamples> samples_of(MTLComputePassDescriptor* descriptor);
std::vector<PassSamples> samples_of(MTLBlitPassDescriptor* descriptor);

// Why the samples cannot be taken by a device's encoder, or nothing.
std::string problem_of(const std::vector<PassSamples>& samples, id<MTLDevice> device);

}  // namespace softmetal
