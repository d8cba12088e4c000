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

// Command buffers that run one after another when all of `waits` are reached. When they are
// complete, all of `signals` are signaled. If anything fails, including a wait, the signals fail
// with its error, and no further command runs, with one exception: commands that the device
// received before the error was known may still run, in this queue and in others that wait for it
// by a semaphore. Host calls never run after an error, and the error is reported either way.
struct Submission {
  std::vector<TimelinePoint> waits = {};
  std::vector<SubmittedCommands> commands = {};
  std::vector<TimelinePoint> signals = {};
  // Whether the caller waits for the queue next, and so starts the commands itself: no thread wakes
  // up for them.
  bool is_awaited = false;
};

// A driver's part of a queue. At any time, at most one thread calls start() and at most one thread
// uses a Work.
class QueueBackend {
 public:
  // Commands that the device has received.
  class Work {
   public:
    virtual ~Work() = default;
    // Whether wait() would return immediately; may be called repeatedly.
    virtual bool is_complete() = 0;
    // Waits until the commands are complete. Called once; later work may be started meanwhile.
    virtual Status wait() = 0;
  };

  // Exists while a thread calls the driver (Metal: an autorelease pool).
  class Scope {
   public:
    virtual ~Scope() = default;
  };

  // Work for the device: first the waits, then the commands, then the signals.
  struct Batch {
    // Points that the device must wait for; can_wait() was true for each. A point that the driver
    // no longer knows has been reached or has failed meanwhile.
    std::span<const TimelinePoint> waits;
    // At least one range of segments of finished command buffers. The segments live until
    // Work::wait() has returned; the ranges themselves do not.
    std::span<const CommandRange> ranges;
    // Points that the device may signal natively when the commands are complete, which makes
    // can_wait() true for them. The queue signals the semaphores in any case, after Work::wait().
    std::span<const TimelinePoint> signals;
  };

  virtual ~QueueBackend() = default;

  // Whether an application gives commands of its own to the same native queue; always the same.
  virtual bool is_shared() const { return false; }

  // Submits a batch to the device, to run after all earlier batches, without waiting for the batch.
  // After an error, none of the batch's commands is executing.
  virtual Result<std::unique_ptr<Work>> start(const Batch& batch) = 0;

  // Whether a batch may wait for the point natively, because the device knows the work that signals
  // it. The queue calls this when such work has been started, for semaphores of this queue's device
  // that have a backend. Thread safe; must not block.
  virtual bool can_wait(const TimelinePoint& point) const {
    static_cast<void>(point);
    return false;
  }

  // Called by each thread before it calls start(), or before it waits for work and destroys it; the
  // scope ends afterwards. Null if the driver needs none. Thread safe.
  virtual std::unique_ptr<Scope> enter() { return nullptr; }
};

// Runs submissions on a device. Made by Device::queue and Device::create_queue. Submissions run in
// order, each when the previous one is complete, so a submission that waits for semaphores delays
// later submissions. Thread safe.
//
// Two threads of the queue submit work to the driver and wait for it, so submit() does not block,
// except on a queue that is shared (below). A thread that waits for the queue without a deadline
// does the work of these threads meanwhile. The thread that starts work also makes host calls, each
// when everything before it is complete. Waiting for a point that an earlier submission of this
// queue signals costs nothing, because the queue is in order. The device itself waits for a point
// that other work of the device signals, if the driver supports it (QueueBackend::can_wait).
//
// A queue over an application's own native queue (Driver::open_native) is in one order with the
// application's commands: those enqueued before a submission come before it, and those enqueued
// after submit() has returned come after it. So submit() itself gives the commands to the native
// queue: it blocks while the driver takes them, makes the submission's host calls, each of which
// waits for all work before it, and waits for other threads that give earlier submissions. Only a
// submission that waits for a semaphore, and what follows it, is given to the native queue later:
// order it by a semaphore.
//
// Releasing the last handle waits for the work that was started, because readbacks write the
// caller's memory; submissions that still wait for semaphores fail. If the last handle is released
// by a host call, or by a callback of a semaphore that the queue signals, nothing is waited for. At
// the end of the process each remaining queue is stopped in the same way, before libraries and
// static objects are destroyed.
class Queue {
 public:
  // Unavailable if the process cannot create more threads.
  static Result<std::shared_ptr<Queue>> create(std::shared_ptr<const DeviceInfo> device_info,
                                               std::unique_ptr<QueueBackend> backend,
                                               std::shared_ptr<Profile> profile = {});
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // The number of incomplete submissions; host calls divide a submission into parts that count
  // separately.
  std::uint64_t backlog() const;

  // Submits finished command buffers; keeps them and the semaphores alive until they have run.
  // InvalidArgument: a command buffer that is null, not finished, of another device, or submitted
  // before and not reusable; a table that does not fit. Unavailable: the process is about to end. A
  // later error fails the semaphores in `signals`, and wait_idle() returns it.
  Status submit(Submission submission);
  Status submit(std::shared_ptr<const CommandBuffer> commands);

  // Submits and waits for the submission. Returns its error, which wait_idle() then does not
  // return; otherwise, like wait_idle(), the first error of earlier work. InvalidArgument as for
  // submit() and wait_idle().
  Status run(Submission submission);

  // Waits for everything submitted before the call. Returns the first error since the last call,
  // only once, after which the queue can be used again. Other errors are DeadlineExceeded, and
  // InvalidArgument if the queue would wait for itself (runs_on_calling_thread). A wait with a
  // deadline polls at first; a blocking call of the driver may delay its return.
  Status wait_idle(Deadline deadline = {});

  // Whether everything submitted is complete; does not wait. wait_idle() returns the errors.
  bool is_idle() const;

  // Whether the calling thread is in a host call of this queue, or in a callback of a semaphore
  // that it signals. Later submissions do not proceed until the call returns.
  bool runs_on_calling_thread() const;

  const DeviceInfo& device_info() const { return *device_info_; }

 private:
  class State;

  Queue(std::shared_ptr<const DeviceInfo> device_info, std::shared_ptr<State> state)
      : device_info_(std::move(device_info)), state_(std::move(state)) {}
  Status check(Submission& submission) const;
  Status accept(Submission& submission) const;

  std::shared_ptr<const DeviceInfo> device_info_;
  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace texloom::hal
