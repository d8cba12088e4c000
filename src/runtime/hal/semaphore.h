// Timeline semaphores: numbers that only rise, which order work of queues and of the host.
//
// Work that is to come after other work waits until a semaphore has reached a value; the other work
// signals that value when it is complete. A wait may come before anything that signals was
// submitted. A semaphore that fails has its error for ever: everything that waits for it, now or
// later, gets that error instead, so that an error spreads along the dependencies.
//
// The semantics are those of Vulkan's timeline semaphores (Vulkan 1.2, section 7.4), with failure
// added to them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "support/status.h"

namespace texloom::hal {

// When a wait gives up; without a value never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline after(std::chrono::nanoseconds time);

// Made by std::make_shared. Thread safe. Whoever waits keeps it.
class Semaphore {
 public:
  explicit Semaphore(std::uint64_t value = 0) : value_(value) {}
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // What it has reached, or the error that it failed with.
  Result<std::uint64_t> value() const;

  // Raises it. InvalidArgument unless the value is more than the present one, which then stays; the
  // semaphore's own error where it has failed.
  Status signal(std::uint64_t value);

  // The first error counts. InvalidArgument for a status that is none.
  Status fail(const Status& error);

  // Waits until the value is reached. DeadlineExceeded, or the semaphore's error.
  Status wait(std::uint64_t value, Deadline deadline = {});

  // Calls `callback` once: with success when the value is reached, with the error when the
  // semaphore fails. Where that is so already it is called before this returns, else by the thread
  // that signals or fails, in the order of values. It may use this semaphore, but must not wait.
  // The number is for cancel().
  using Callback = std::function<void(const Status&)>;
  std::uint64_t when_reached(std::uint64_t value, Callback callback);
  // Forgets a callback. False when it was called, or is being called.
  bool cancel(std::uint64_t number);

 private:
  // By value, then by number: in the order of calls.
  using Waiting = std::multimap<std::uint64_t, std::pair<std::uint64_t, Callback>>;

  mutable std::mutex mutex_;  // of all below; callbacks are called without it
  std::uint64_t value_;
  Status error_;
  Waiting waiting_;
  std::uint64_t next_number_ = 0;
};

// A value that a semaphore is to reach.
struct TimelinePoint {
  std::shared_ptr<Semaphore> semaphore;
  std::uint64_t value = 0;
};

// Waits for all; of those that fail the first error is returned at once. InvalidArgument for a
// semaphore that is null; DeadlineExceeded. None at all are reached.
Status wait_all(std::span<const TimelinePoint> points, Deadline deadline = {});
// Waits for one of them and returns its place in `points`: the first there that is reached, or has
// failed, whose error is then returned. InvalidArgument when there are none.
Result<std::size_t> wait_any(std::span<const TimelinePoint> points, Deadline deadline = {});

}  // namespace texloom::hal
