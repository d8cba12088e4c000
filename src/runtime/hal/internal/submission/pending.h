// Submissions that a queue (queue.cc) has not completed: their waits, their parts, and their
// outcome. The mutex of the queue's state guards everything in this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/hal/queue.h"

namespace texloom::hal::internal {

// How a submission ended.
struct Outcome {
  Status error;
};

// The points that a submission waits for. The host waits for each point until the point is reached
// or fails, or until the device can wait for it instead.
struct Gate {
  struct Wait {
    TimelinePoint point;
    bool is_over = false;    // the host knows that the point is reached, or has failed
    bool is_native = false;  // the device waits for it
  };

  std::vector<Wait> waits;
  std::size_t closed = 0;   // waits that prevent the submission from being started
  std::size_t open = 0;     // waits left to the device that are not over
  Status error;             // the error of the first wait that failed
  bool registered = false;  // whether all semaphores know the waits
  std::vector<std::pair<std::shared_ptr<Semaphore>, std::uint64_t>> callbacks;  // to be canceled

  explicit Gate(const std::vector<TimelinePoint>& points);
  bool is_open() const { return registered && (closed == 0 || !error.ok()); }
  bool is_over() const { return open == 0 || !error.ok(); }
  void end_wait(std::size_t i, const Status& status);
  void leave_to_device(std::size_t i);
  std::vector<TimelinePoint> native_waits() const;
  // Cancels the callbacks and releases the semaphores, with the mutex unlocked meanwhile.
  void release(std::unique_lock<std::mutex>& lock);
};

// Whether the point's semaphore has reached its value.
bool is_reached(const TimelinePoint& point);

// An earlier submission of the queue whose error this one takes over.
struct Predecessor {
  std::shared_ptr<const Outcome> outcome;
  TimelinePoint point = {};  // the awaited signal; null for a part of the same submission

  // Success if the awaited signal came and the submission failed later, because another of its
  // signals was refused.
  Status error() const;
};

// A part of a submission: commands that the device can receive together, or a host call. The first
// part waits, each other part follows its predecessor, and the last part signals.
struct Pending {
  std::shared_ptr<const std::vector<SubmittedCommands>> kept;  // owns the commands of the ranges
  std::vector<CommandRange> ranges = {};
  const HostCall* host_call = nullptr;
  std::span<const Binding> host_call_table = {};
  std::vector<TimelinePoint> signals = {};
  std::shared_ptr<Gate> gate = {};  // null if it waits for nothing
  std::vector<Predecessor> after = {};
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
  std::unique_ptr<QueueBackend::Work> work =
      {};                   // null before the start, or if nothing was started
  bool is_awaited = false;  // Queue::run() returns its error

  // Whether the part can be started, even if it will only fail.
  bool is_open() const;
  // Whether the host knows the results of all waits that were left to the device.
  bool waits_are_over() const { return gate == nullptr || gate->is_over(); }
  // Whether the device receives commands, so that it can wait before them.
  bool is_for_device() const { return host_call == nullptr && !ranges.empty(); }
  bool will_signal(const TimelinePoint& point) const;
  // The first error among the part's predecessors.
  Status earlier_error() const;
};

// Splits a submission into parts, in order: at least one, which waits and signals even without
// commands. The caller adds the gate and the predecessors of the first.
std::vector<Pending> split(std::vector<SubmittedCommands> commands,
                           std::vector<TimelinePoint> signals);

}  // namespace texloom::hal::internal
