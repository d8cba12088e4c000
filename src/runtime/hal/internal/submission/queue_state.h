// The internal state of a queue: its incomplete submissions, and the threads that process them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/hal/internal/submission/pending.h"
#include "runtime/hal/queue.h"

namespace texloom::hal {

// Shared with the queue's threads and with the callbacks of semaphores, which may outlive the
// queue.
//
// There are two roles, each held by one thread at a time: starting the front of `waiting_`, and
// completing the front of `started_`. The queue's threads take the roles unless a waiting thread
// does.
class Queue::State {
 public:
  State(std::shared_ptr<const DeviceInfo> device_info, std::unique_ptr<QueueBackend> backend,
        std::shared_ptr<Profile> profile)
      : device_info_(std::move(device_info)),
        backend_(std::move(backend)),
        is_shared_(backend_->is_shared()),
        profile_(std::move(profile)),
        name_(profile_ == nullptr ? "" : profile_->add_queue()) {}

  // The place of a submission in the queue, and its outcome.
  struct Ticket {
    std::uint64_t number;
    std::shared_ptr<const internal::Outcome> outcome;
  };
  // An error if this thread must not wait for the queue.
  Status check_wait() const;
  // Unavailable after stop().
  Result<Ticket> submit(Submission submission, bool is_awaited, const std::shared_ptr<State>& self);
  Status wait(const Ticket& ticket);
  Status wait_idle(const Deadline& deadline);
  bool is_idle() const;
  std::uint64_t backlog() const;
  void stop();
  // Called at the end of the process: the driver must be idle before its global objects are
  // destroyed.
  void stop_and_wait();
  // Whether the calling thread is in a host call, or in a call of the driver or of a semaphore.
  bool is_working() const;

  // The bodies of the queue's threads. After stop() they return when all submissions are started
  // or, respectively, completed.
  void start_all();
  void complete_all();

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool can_start() const {
    if (starter_ || waiting_.empty()) return false;
    const internal::Pending& next = waiting_.front();
    return (stopping_ || next.is_open()) && (next.host_call == nullptr || nothing_is_started());
  }
  bool can_start_without_a_host_call() const {
    return can_start() && waiting_.front().host_call == nullptr;
  }
  // Once the queue is stopped, only the device must be done: the host may never learn the result of
  // a wait that was left to the device.
  bool can_complete() const {
    return !completer_ && !started_.empty() && (stopping_ || started_.front().waits_are_over());
  }
  bool nothing_is_started() const { return !completer_ && started_.empty(); }
  // The next functions release the lock while they call the driver and semaphores.
  void start_front(Lock& lock);
  Status start_on_device(internal::Pending& next);
  bool front_is_complete(Lock& lock);
  void complete(std::size_t most, Lock& lock);
  void settle(internal::Pending& done, Status status, Lock& lock);
  // Wakes the threads for the work that the caller leaves to them.
  void leave_to_threads();
  const internal::Pending* find_signaler(const TimelinePoint& point) const;
  bool may_be_native(const TimelinePoint& point) const;
  void watch(const std::shared_ptr<internal::Gate>& gate, const std::vector<TimelinePoint>& points,
             bool is_for_device, const std::shared_ptr<State>& self);
  void wake_for(const internal::Gate& gate);
  void help_to_start(Lock& lock);
  // Starts work up to the submission with this number, unless that waits for a semaphore.
  void start_until(std::uint64_t number, Lock& lock);
  void help_until(std::uint64_t completed, Lock& lock);
  bool busy_wait_until(std::uint64_t completed, const Deadline& deadline, Lock& lock);

  std::shared_ptr<const DeviceInfo> device_info_;
  std::unique_ptr<QueueBackend> backend_;
  bool is_shared_;
  std::shared_ptr<Profile> profile_;  // may be null
  std::string name_;                  // in the profile

  // Guards all members below. While the mutex is held, only Semaphore::value() and the driver's
  // is_complete() and can_wait() are called.
  mutable std::mutex mutex_;
  std::condition_variable startable_, completable_, progress_;
  std::deque<internal::Pending> waiting_;
  std::deque<internal::Pending> started_;
  // These two parts are in neither list: a thread is starting the first, or waiting for the second
  // and signaling. Other threads may only read their `signals` and `outcome`.
  const internal::Pending *being_started_ = nullptr, *being_completed_ = nullptr;
  std::optional<std::thread::id> starter_, completer_;  // the threads that have these roles
  int helpers_ = 0;  // waiting threads that complete work themselves
  std::uint64_t submitted_ = 0, completed_ = 0;
  Status first_error_;
  bool stopping_ = false;  // new submissions are refused
};

}  // namespace texloom::hal
