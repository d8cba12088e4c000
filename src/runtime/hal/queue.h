// An in-order queue of a device.
#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "runtime/hal/command_buffer.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/segment.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal {

// Command buffers that run one after the other when all of `waits` are reached. When they are
// complete, all of `signals` are signaled; if anything fails, they fail with its error. A wait that
// fails is such an error. Commands do not run after an error, with one exception: those that the
// device was given before the error was known may still execute, in this queue and in others that
// wait for it by a semaphore. Host calls never do, and the error is reported either way.
struct Submission {
  std::vector<TimelinePoint> waits = {};
  std::vector<SubmittedCommands> commands = {};
  std::vector<TimelinePoint> signals = {};
};

// A driver's part of a queue. One thread at a time calls start, one at a time has a Work.
class QueueBackend {
 public:
  // Commands that the device has been given.
  class Work {
   public:
    virtual ~Work() = default;
    // Whether wait() would return at once; may be called repeatedly.
    virtual bool is_complete() = 0;
    // Waits until the commands are complete. Called once, while later work may be started.
    virtual Status wait() = 0;
  };

  // Lives while a thread calls the driver (Metal: an autorelease pool).
  class Scope {
   public:
    virtual ~Scope() = default;
  };

  // Work for the device, in this order.
  struct Batch {
    // Points that the device must wait for, of semaphores for which can_wait() said yes. A point
    // that it no longer knows has been reached since, or has failed.
    std::span<const TimelinePoint> waits;
    // Segments of finished command buffers, at least one. They live until Work::wait has returned;
    // the ranges themselves do not.
    std::span<const CommandRange> ranges;
    // Points that the device may signal natively when the commands are complete, so that can_wait()
    // is true of them. The queue signals the semaphores all the same, after Work::wait.
    std::span<const TimelinePoint> signals;
  };

  virtual ~QueueBackend() = default;

  // Gives a batch to the device, after all that it was given before, without waiting for it. After
  // an error none of its commands is executing.
  virtual Result<std::unique_ptr<Work>> start(const Batch& batch) = 0;

  // Whether start() can be given the point as a wait, since the device knows the work that signals
  // it. The queue asks when such work has been started, for semaphores of this queue's device that
  // have a backend. Thread safe; must not block.
  virtual bool can_wait(const TimelinePoint& point) const {
    static_cast<void>(point);
    return false;
  }

  // Called by each thread before it calls start, or waits for work and destroys it; the scope ends
  // afterwards. Null: the driver needs none. Thread safe.
  virtual std::unique_ptr<Scope> enter() { return nullptr; }
};

// Made by Device::queue and Device::create_queue. Submissions run in order, each when the one
// before it is complete: one that waits for semaphores holds up those after it. Thread safe.
//
// Two threads of the queue give work to the driver and wait for it, so submit() never blocks; a
// thread that waits for the queue without a deadline does their work meanwhile. The thread that
// starts work also makes host calls, each when everything before it is complete. A wait for a point
// that an earlier submission of this queue signals needs nothing: the order is enough. A wait for a
// point that other work of the device signals is left to the device if the driver can
// (QueueBackend::can_wait).
//
// Releasing the last handle waits for the work that was started, since readbacks write the caller's
// memory; submissions that still wait for semaphores fail. If a host call, or a callback of a
// semaphore that the queue signals, releases it, the queue waits for nothing. At the end of the
// process each remaining queue is stopped in the same way, before libraries and static objects are
// destroyed.
class Queue {
 public:
  // Unavailable if the process can have no more threads.
  static Result<std::shared_ptr<Queue>> create(std::shared_ptr<const DeviceInfo> device_info,
                                               std::unique_ptr<QueueBackend> backend,
                                               std::shared_ptr<Profile> profile = {});
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // The number of submissions that are not complete; each part between host calls counts.
  std::uint64_t backlog() const;

  // Hands over finished command buffers; keeps them and the semaphores until they have run.
  // InvalidArgument: null, not finished, of another device, submitted before and not reusable, a
  // table that does not fit. Unavailable: the process is about to end. A later error fails the
  // semaphores to be signaled, and wait_idle returns it.
  Status submit(Submission submission);
  Status submit(std::shared_ptr<const CommandBuffer> commands);

  // Submits and waits for the submission. Returns its error, which wait_idle then does not; else,
  // like wait_idle, the first error of earlier work. InvalidArgument as for submit and wait_idle.
  Status run(Submission submission);

  // Waits for everything submitted before the call. Returns the first error since the last call,
  // once: the queue can be used again. DeadlineExceeded. InvalidArgument if the queue would wait
  // for itself (runs_on_calling_thread). A wait with a deadline polls at first; a driver's call
  // that blocks may make it late.
  Status wait_idle(Deadline deadline = {});

  // Whether everything submitted is complete; does not wait. wait_idle returns the errors.
  bool is_idle() const;

  // Whether the calling thread is in a host call of this queue, or in a callback of a semaphore
  // that it signals: later submissions do not proceed until that returns.
  bool runs_on_calling_thread() const;

  const DeviceInfo& device_info() const { return *device_info_; }

 private:
  class State;

  Queue(std::shared_ptr<const DeviceInfo> device_info, std::shared_ptr<State> state)
      : device_info_(std::move(device_info)), state_(std::move(state)) {}
  Status check(const Submission& submission) const;
  Status accept(Submission& submission) const;

  std::shared_ptr<const DeviceInfo> device_info_;
  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace texloom::hal
