// An in-order queue of a device.
#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "runtime/hal/command_buffer.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::hal {

// Command buffers that run one after the other when all of `waits` are reached. When they are
// complete, all of `signals` are signalled; when something fails, they fail with its error. A wait
// that fails is such an error: nothing is run then. What fails on the device, though, may have
// behind it what was given to the device meanwhile, also where that waits for it by a semaphore:
// commands of the same queue may run, host calls do not, and the error is told as if none had.
struct Submission {
  std::vector<TimelinePoint> waits = {};
  std::vector<SubmittedCommands> commands = {};
  std::vector<TimelinePoint> signals = {};
};

// What a driver does for a queue. One thread at a time calls start, one at a time has a Work.
class QueueBackend {
 public:
  // Command buffers that the device has been given.
  class Work {
   public:
    virtual ~Work() = default;
    // Whether wait() would return at once; may be asked again and again.
    virtual bool is_complete() = 0;
    // Waits until they are complete. Called once, while later work may be started.
    virtual Status wait() = 0;
  };

  virtual ~QueueBackend() = default;

  // Gives segments of finished command buffers to the device, at least one, behind all that it was
  // given before; need not wait for them. They live until Work::wait has returned; the ranges
  // themselves do not. After an error nothing of them is under way any more.
  virtual Result<std::unique_ptr<Work>> start(std::span<const CommandRange> commands) = 0;
};

// Made by Device::queue and Device::create_queue. Submissions run in order, each after the one
// before it is complete: one that waits for semaphores holds up those behind it. Thread safe.
//
// Two threads of the queue's own give work to the driver and wait for it, so that submit() never
// does; whoever waits for the queue without a deadline takes that work over from them. The one that
// gives work also makes host calls, each when all before it is complete. What a submission waits
// for and an earlier one of this queue signals needs no thread at all: the order is enough. The
// last handle's release waits for the work at hand, since readbacks write memory of the caller;
// what still waits for semaphores then fails. Released by a host call or by the callback of a
// semaphore that it signals, the queue waits for nothing. At the end of the process each queue that
// is left is stopped like one that is released, before libraries and static storage are.
class Queue {
 public:
  // Unavailable where the process may have no more threads.
  static Result<std::shared_ptr<Queue>> create(std::shared_ptr<const DeviceInfo> device_info,
                                               std::unique_ptr<QueueBackend> backend,
                                               std::shared_ptr<Profile> profile = {});
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // How many submissions, counting the parts between their host calls, are not complete.
  std::uint64_t backlog() const;

  // Hands over finished command buffers; keeps them and the semaphores until they have run.
  // InvalidArgument: null, not finished, of another device, submitted before and not reusable, a
  // table that does not fit. Unavailable: the process is about to end. What goes wrong later fails
  // the semaphores to be signalled, and is told by wait_idle.
  Status submit(Submission submission);
  Status submit(std::shared_ptr<const CommandBuffer> commands);

  // Submits and waits for it. Returns its own error, which nobody else is told; else, like
  // wait_idle, the first error of work before it. InvalidArgument as submit and wait_idle.
  Status run(Submission submission);

  // Waits for everything submitted before the call. Returns the first error of work that was run
  // since the last call, once: the queue can be used again. DeadlineExceeded. InvalidArgument from
  // where the queue would wait for itself (runs_on_calling_thread). Where it is likely to be short,
  // the wait is a busy one; a driver's call that blocks may make it late.
  Status wait_idle(Deadline deadline = {});

  // Whether everything submitted is complete; does not wait. The errors are wait_idle's to tell.
  bool is_idle() const;

  // Whether the calling thread is in a host call of this queue, or in a callback of a semaphore
  // that it signals: what was submitted later does not go on until that returns.
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
