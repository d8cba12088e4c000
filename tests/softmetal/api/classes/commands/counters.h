// Counter sample buffers, which contain the times of encoders and commands. For Objective-C++
// sources only.
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
  std::vector<uint64_t> times_;  // 0 where no sample was taken yet
};

}  // namespace softmetal

@interface SMCounterSampleBuffer : SMObject <MTLCounterSampleBuffer> {
 @public
  std::shared_ptr<softmetal::CounterSamples>* samples_;
}
@end

namespace softmetal {

// The host's clock in nanoseconds. device_time() converts its times to the device's clock.
uint64_t host_time();
// Makes each reading of the host's clock `nanoseconds` later than the previous one, for tests that
// expect exact times. 0, the default, selects the system's clock.
void step_clock(uint64_t nanoseconds);
uint64_t device_time(const DeviceModel& model, uint64_t host_time);

// The set of the only counter, the timestamp. Never released.
id<MTLCounterSet> timestamp_set();
id<MTLCounterSampleBuffer> new_sample_buffer(id<MTLDevice> device,
                                             MTLCounterSampleBufferDescriptor* descriptor,
                                             NSError** error);

// The indices for samples at an encoder's begin and end; MTLCounterDontSample takes none.
struct PassSamples {
  SMCounterSampleBuffer* buffer = nil;
  NSUInteger start = 0, end = 0;
};
std::vector<PassSamples> samples_of(MTLComputePassDescriptor* descriptor);
std::vector<PassSamples> samples_of(MTLBlitPassDescriptor* descriptor);

// Returns why a device's encoder cannot take the samples, or an empty string.
std::string problem_of(const std::vector<PassSamples>& samples, id<MTLDevice> device);

}  // namespace softmetal
