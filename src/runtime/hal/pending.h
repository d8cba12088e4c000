// Submissions on their way through a queue (queue.cc): what they wait for, their parts, and what
// they come to. All of it is guarded by the mutex of the queue's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/hal/queue.h"

namespace texloom::hal::internal {

// What a submission came to.
struct Outcome {
  Status error;
};

// What a submission still waits for.
struct Gate {
  std::size_t missing = 0;
  Status error;
  bool registered = false;  // with all semaphores
  std::vector<std::pair<std::shared_ptr<Semaphore>, std::uint64_t>> callbacks;  // for cancel

  bool is_open() const { return registered && (missing == 0 || !error.ok()); }
};

// Whether its semaphore has that value already.
bool is_reached(const TimelinePoint& point);

// What comes before a submission in its queue, and whose error is its own.
struct Predecessor {
  std::shared_ptr<const Outcome> outcome;
  TimelinePoint point = {};  // that it is to signal; null for a part of the same submission

  // None where the signal came, and it failed behind that: another of its signals was refused.
  Status error() const;
};

using HostCall = std::function<Status()>;

// A part of a submission on its way: what the device can be given at once, or a host call. The
// first waits, each other comes after the one before it, and the last one signals.
struct Pending {
  std::shared_ptr<const std::vector<SubmittedCommands>> kept;  // what the ranges are of
  std::vector<CommandRange> ranges = {};
  const HostCall* host_call = nullptr;
  std::vector<TimelinePoint> signals = {};
  std::shared_ptr<Gate> gate = {};  // null where nothing is waited for
  std::vector<Predecessor> after = {};
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
  std::unique_ptr<QueueBackend::Work> work = {};  // null before, and where nothing was started
  bool is_awaited = false;                        // whoever submitted it is told its error

  // Whether nothing is waited for any more, or in vain.
  bool is_open() const;
  bool will_signal(const TimelinePoint& point) const;
  // The first error of those before.
  Status earlier_error() const;
};

// The parts of a submission, in order: at least one, as waits and signals are kept where nothing is
// to be run. The gate and what the first comes after are the caller's to add.
std::vector<Pending> split(std::vector<SubmittedCommands> commands,
                           std::vector<TimelinePoint> signals);

}  // namespace texloom::hal::internal
