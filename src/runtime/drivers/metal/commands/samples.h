// Samples of the device's clock, by which a profile measures commands of one command buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/device_clock.h"
#include "runtime/drivers/metal/platform/context.h"

namespace texloom::hal::metal {

// The points at which a device samples its clock: on Apple's GPUs the begin and the end of an
// encoder, on other GPUs between the commands of encoders.
enum class SamplingPoint : std::uint8_t { None, Encoders, Commands };

// The sample for the beginning of a command; the next sample is for its end.
struct SamplePair {
  MetalSamples* buffer = nullptr;  // null: the command is not sampled
  std::uint32_t begin = 0;

  explicit operator bool() const { return buffer != nullptr; }
  // The ticks of both samples, after the commands are complete. Nullopt if the device did not take
  // them: Metal returns an error value or no data, or the buffer still has samples of an earlier
  // batch, from before the tick `first`.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> ticks(std::uint64_t first) const;
};

// The sample buffers of a queue, which batches use and give back when they are complete. Thread
// safe.
class Samples {
 public:
  explicit Samples(const Context& context);

  SamplingPoint point() const { return point_; }
  ClockMoment now() const;

  // Null if no buffer can be made, and always after give_up().
  Handle<MetalSamples> take();
  // Keeps some of the buffers for later batches, and frees the others.
  void give_back(std::vector<Handle<MetalSamples>>& buffers);
  // Ends sampling, because the device reports support for samples but takes none.
  void give_up() { has_given_up_ = true; }

 private:
  Handle<MetalSamples> make() const;

  const Context& context_;
  const SamplingPoint point_;  // None without a profile
  std::atomic<bool> has_given_up_ = false;
  std::mutex mutex_;
  std::vector<Handle<MetalSamples>> free_;  // guarded by mutex_
};

// Divides sample buffers among the commands of one batch.
class SamplePairs {
 public:
  explicit SamplePairs(Samples& samples) : samples_(samples) {}
  ~SamplePairs() { samples_.give_back(buffers_); }
  SamplePairs(const SamplePairs&) = delete;
  SamplePairs& operator=(const SamplePairs&) = delete;

  SamplePair take();
  // The buffers, which must be given back when the batch is complete.
  std::vector<Handle<MetalSamples>> release() { return std::move(buffers_); }

 private:
  Samples& samples_;
  std::vector<Handle<MetalSamples>> buffers_;  // the last one is being divided
  std::uint32_t used_ = 0;                     // samples of the last one
};

}  // namespace texloom::hal::metal
