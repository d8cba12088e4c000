#include "runtime/hal/queue.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/hal/exit_handlers.h"
#include "runtime/hal/pending.h"

namespace texloom::hal {

namespace {

using internal::Gate;
using internal::Outcome;
using internal::Pending;
using std::chrono::steady_clock;

// How long a wait with a deadline asks again and again before it leaves the work to the threads.
constexpr std::chrono::microseconds kBusy(2000);

// So that waking this thread does not stop the one that submits (Linux: sched(7), SCHED_BATCH).
void let_others_finish_first() {
#ifdef SCHED_BATCH
  const sched_param parameters = {};
  static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters));
#endif
}

}  // namespace

// Shared with the queue's threads and with the callbacks of semaphores, which may outlive it.
//
// There are two parts to play, each by one thread at a time: to start what is at the front of
// `waiting_`, and to complete what is at the front of `started_`. The queue's threads play them
// unless a waiting thread does.
class Queue::State {
 public:
  State(std::unique_ptr<QueueBackend> backend, std::shared_ptr<Profile> profile)
      : backend_(std::move(backend)),
        profile_(std::move(profile)),
        name_(profile_ == nullptr ? "" : profile_->add_queue()) {}

  // Where a submission stands in the queue, and what it comes to.
  struct Ticket {
    std::uint64_t number;
    std::shared_ptr<const Outcome> outcome;
  };
  // What speaks against waiting here.
  Status check_wait() const;
  // Unavailable behind a stop.
  Result<Ticket> submit(Submission submission, bool is_awaited, const std::shared_ptr<State>& self);
  Status wait(const Ticket& ticket);
  Status wait_idle(const Deadline& deadline);
  bool is_idle() const;
  std::uint64_t backlog() const;
  void stop();
  // At the end of the process: nothing of the driver's may run any more when its globals go.
  void stop_and_wait();
  // Whether the calling thread is in a host call, or in a call of the driver or of a semaphore.
  bool is_working() const;

  // What the queue's threads do, until everything is started (completed) behind a stop.
  void start_all();
  void complete_all();

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool can_start() const {
    if (starter_ || waiting_.empty()) return false;
    const Pending& next = waiting_.front();
    return (stopping_ || next.is_open()) && (next.host_call == nullptr || nothing_is_started());
  }
  bool can_start_without_a_host_call() const {
    return can_start() && waiting_.front().host_call == nullptr;
  }
  bool can_complete() const { return !completer_ && !started_.empty(); }
  bool nothing_is_started() const { return !completer_ && started_.empty(); }
  // These let go of the lock while they call the driver and semaphores.
  void start_front(Lock& lock);
  void complete(std::size_t most, Lock& lock);
  void settle(Pending& done, Status status, Lock& lock);
  // Wakes the threads for what the caller leaves to be done.
  void leave_to_threads();
  const Pending* find_signaller(const TimelinePoint& point) const;
  void help_to_start(Lock& lock);
  void help_until(std::uint64_t completed, Lock& lock);
  bool busy_wait_until(std::uint64_t completed, const Deadline& deadline, Lock& lock);

  std::unique_ptr<QueueBackend> backend_;
  std::shared_ptr<Profile> profile_;  // may be null
  std::string name_;                  // in the profile

  // Of all below. Neither a semaphore nor the driver is called with it, but for is_complete() and
  // value().
  mutable std::mutex mutex_;
  std::condition_variable startable_, completable_, progress_;
  std::deque<Pending> waiting_;
  std::deque<Pending> started_;
  // What is in neither, as a thread starts it, or waits for it and signals. Of these `signals` and
  // `outcome` alone may be looked at.
  const Pending *being_started_ = nullptr, *being_completed_ = nullptr;
  std::optional<std::thread::id> starter_, completer_;  // who plays that part
  int helpers_ = 0;  // threads that wait and will look after what is started
  std::uint64_t submitted_ = 0, completed_ = 0;
  Status first_error_;
  bool stopping_ = false;  // no more is submitted
};

void Queue::State::start_front(Lock& lock) {
  starter_ = std::this_thread::get_id();
  Pending next = std::move(waiting_.front());
  waiting_.pop_front();
  being_started_ = &next;
  Status error = next.earlier_error();
  decltype(Gate::callbacks) callbacks;
  if (next.gate != nullptr) {
    if (error.ok() && next.gate->is_open()) {
      error = next.gate->error;
    } else if (error.ok()) {
      error = Status(StatusCode::Unavailable,
                     "the queue was released before what a submission waits for came");
    }
    callbacks = std::move(next.gate->callbacks);
  }
  lock.unlock();
  for (const auto& [semaphore, number] : callbacks) semaphore->cancel(number);
  callbacks.clear();
  if (error.ok() && next.host_call != nullptr) {
    const HostSpan span(profile_.get(), "a host call");
    error = (*next.host_call)().with_context("a host call");
  } else if (error.ok() && !next.ranges.empty()) {
    const HostSpan span(profile_.get(), "start a submission");
    auto work = backend_->start(next.ranges);
    if (work.ok()) {
      next.work = *std::move(work);
    } else {
      error = work.status().with_context("submit");
    }
  }
  lock.lock();
  next.outcome->error = std::move(error);
  being_started_ = nullptr;
  started_.push_back(std::move(next));
  starter_.reset();
}

// The front; or, for the queue's own thread, all up to the first that signals: what nobody is told
// of need not be waited for one by one, and is complete when the last one is.
void Queue::State::complete(std::size_t most, Lock& lock) {
  completer_ = std::this_thread::get_id();
  std::vector<Pending> run;
  std::vector<Status> statuses;
  do {
    run.push_back(std::move(started_.front()));
    started_.pop_front();
    statuses.push_back(run.back().outcome->error);
  } while (run.size() < most && !started_.empty() && run.back().signals.empty());
  being_completed_ = &run.back();
  lock.unlock();
  for (std::size_t i = run.size(); i-- > 0;) {
    if (run[i].work == nullptr) continue;
    const HostSpan span(profile_.get(), "wait for the device");
    statuses[i] = run[i].work->wait();
  }
  lock.lock();
  for (std::size_t i = 0; i < run.size(); ++i) settle(run[i], std::move(statuses[i]), lock);
  completer_.reset();
  // Its front may be a host call, which waits for all before it, or wait in vain now.
  if (can_start()) startable_.notify_one();
  progress_.notify_all();
}

// Of what the driver is done with, and everything before is settled: releases what it kept, and
// tells what it came to.
void Queue::State::settle(Pending& done, Status status, Lock& lock) {
  if (status.ok()) status = done.earlier_error();
  lock.unlock();
  done.work.reset();
  done.ranges.clear();
  done.kept.reset();
  for (const TimelinePoint& signal : done.signals) {
    const Status told =
        status.ok() ? signal.semaphore->signal(signal.value) : signal.semaphore->fail(status);
    if (status.ok()) status = told;
  }
  lock.lock();
  if (&done == being_completed_) being_completed_ = nullptr;
  done.outcome->error = status;
  if (first_error_.ok() && !done.is_awaited) first_error_ = std::move(status);
  ++completed_;
  if (done.signals.empty()) return;
  lock.unlock();
  done.signals.clear();  // the last handle of a semaphore, perhaps
  lock.lock();
}

void Queue::State::leave_to_threads() {
  if (can_start() || stopping_) startable_.notify_one();
  if (can_complete() || stopping_) completable_.notify_one();
}

// What is started meanwhile is completed meanwhile: the driver's call may take as long as that.
void Queue::State::help_to_start(Lock& lock) {
  if (can_complete()) completable_.notify_one();
  start_front(lock);
}

void Queue::State::start_all() {
  let_others_finish_first();
  if (profile_ != nullptr) profile_->name_host_track(name_ + ": starting");
  Lock lock(mutex_);
  while (true) {
    startable_.wait(lock, [&] { return can_start() || (stopping_ && waiting_.empty()); });
    if (!can_start()) break;
    start_front(lock);
    // A thread that waits looks for itself; it is asleep only where another completes.
    if (helpers_ == 0) completable_.notify_one();
    progress_.notify_all();
  }
  completable_.notify_one();
}

void Queue::State::complete_all() {
  let_others_finish_first();
  if (profile_ != nullptr) profile_->name_host_track(name_ + ": completing");
  Lock lock(mutex_);
  while (true) {
    completable_.wait(lock, [&] {
      return can_complete() || (stopping_ && waiting_.empty() && !starter_ && started_.empty());
    });
    if (!can_complete()) return;
    complete(helpers_ == 0 ? started_.size() : 1, lock);
  }
}

void Queue::State::help_until(std::uint64_t completed, Lock& lock) {
  ++helpers_;
  while (completed_ < completed) {
    if (can_start()) {
      help_to_start(lock);
    } else if (can_complete()) {
      complete(1, lock);
    } else {
      progress_.wait(lock);
    }
  }
  --helpers_;
}

// Starts what can be started and completes what is complete, in turns; whether that was enough.
bool Queue::State::busy_wait_until(std::uint64_t completed, const Deadline& deadline, Lock& lock) {
  const steady_clock::time_point end = std::min(*deadline, steady_clock::now() + kBusy);
  ++helpers_;
  while (completed_ < completed && steady_clock::now() < end) {
    if (can_start_without_a_host_call()) {
      help_to_start(lock);
    } else if (can_complete() &&
               (started_.front().work == nullptr || started_.front().work->is_complete())) {
      complete(1, lock);
    } else {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }
  --helpers_;
  return completed_ >= completed;
}

Status Queue::State::check_wait() const {
  if (!is_working()) return {};
  return invalid_argument("a host call, or what a semaphore calls, waits for its own queue");
}

Status Queue::State::wait(const Ticket& ticket) {
  Lock lock(mutex_);
  help_until(ticket.number, lock);
  leave_to_threads();
  return ticket.outcome->error.ok() ? std::exchange(first_error_, Status()) : ticket.outcome->error;
}

Status Queue::State::wait_idle(const Deadline& deadline) {
  Lock lock(mutex_);
  const std::uint64_t submitted = submitted_;
  bool done = true;
  if (!deadline) {
    help_until(submitted, lock);
  } else if (!busy_wait_until(submitted, deadline, lock)) {
    leave_to_threads();
    done = progress_.wait_until(lock, *deadline, [&] { return completed_ >= submitted; });
  }
  leave_to_threads();
  if (!done) return make_error(StatusCode::DeadlineExceeded, "the queue is not idle in time");
  return std::exchange(first_error_, Status());
}

bool Queue::State::is_idle() const {
  const std::scoped_lock lock(mutex_);
  return completed_ == submitted_;
}

std::uint64_t Queue::State::backlog() const {
  const std::scoped_lock lock(mutex_);
  return submitted_ - completed_;
}

void Queue::State::stop_and_wait() {
  if (is_working()) return;  // what calls exit() there would wait for itself
  stop();
  Lock lock(mutex_);
  help_until(submitted_, lock);
}

void Queue::State::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  startable_.notify_all();
  completable_.notify_all();
}

bool Queue::State::is_working() const {
  const std::scoped_lock lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  return starter_ == self || completer_ == self;
}

// What is under way and will signal it, the first of several; null where there is none.
const Pending* Queue::State::find_signaller(const TimelinePoint& point) const {
  const auto signals = [&](const Pending& each) { return each.will_signal(point); };
  if (being_completed_ != nullptr && signals(*being_completed_)) return being_completed_;
  const auto started = std::find_if(started_.begin(), started_.end(), signals);
  if (started != started_.end()) return &*started;
  if (being_started_ != nullptr && signals(*being_started_)) return being_started_;
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(), signals);
  return waiting != waiting_.end() ? &*waiting : nullptr;
}

Result<Queue::State::Ticket> Queue::State::submit(Submission submission, bool is_awaited,
                                                  const std::shared_ptr<State>& self) {
  std::vector<TimelinePoint> awaited = std::move(submission.waits);
  std::vector<Pending> parts =
      internal::split(std::move(submission.commands), std::move(submission.signals));
  Lock lock(mutex_);
  if (stopping_) return make_error(StatusCode::Unavailable, "submit: the process is about to end");
  std::erase_if(awaited, [&](const TimelinePoint& point) {
    if (internal::is_reached(point)) return true;
    if (!point.semaphore->value().ok()) return false;  // the callback tells
    const Pending* earlier = find_signaller(point);
    if (earlier != nullptr) parts.front().after.push_back({earlier->outcome, point});
    return earlier != nullptr;
  });
  std::shared_ptr<Gate> gate;
  if (!awaited.empty()) {
    parts.front().gate = gate = std::make_shared<Gate>();
    gate->missing = awaited.size();
  }
  submitted_ += parts.size();
  const Ticket ticket{submitted_, parts.back().outcome};
  for (Pending& part : parts) {
    part.is_awaited = is_awaited;
    waiting_.push_back(std::move(part));
  }
  if (gate != nullptr) {
    lock.unlock();
    const auto arrived = [self, gate](const Status& status) {
      const std::scoped_lock arriving(self->mutex_);
      --gate->missing;
      if (gate->error.ok()) gate->error = status;
      if (!gate->is_open()) return;
      self->startable_.notify_one();
      self->progress_.notify_all();
    };
    decltype(gate->callbacks) callbacks;
    for (const TimelinePoint& point : awaited) {
      const std::uint64_t number = point.semaphore->when_reached(point.value, arrived);
      callbacks.emplace_back(point.semaphore, number);
    }
    lock.lock();
    gate->callbacks = std::move(callbacks);
    gate->registered = true;
  }
  startable_.notify_one();
  progress_.notify_all();
  return ticket;
}

Result<std::shared_ptr<Queue>> Queue::create(std::shared_ptr<const DeviceInfo> device_info,
                                             std::unique_ptr<QueueBackend> backend,
                                             std::shared_ptr<Profile> profile) {
  auto state = std::make_shared<State>(std::move(backend), std::move(profile));
  std::shared_ptr<Queue> queue(new Queue(std::move(device_info), state));
  try {
    queue->threads_.emplace_back([state] { state->start_all(); });
    queue->threads_.emplace_back([state] { state->complete_all(); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::Unavailable, "no thread for a queue: {}", error.what());
  }
  call_at_exit(state, [state = state.get()] { state->stop_and_wait(); });
  return queue;
}

Queue::~Queue() {
  state_->stop();
  // Joined by itself, a thread would wait for ever.
  const bool is_working = state_->is_working();
  for (std::thread& thread : threads_) is_working ? thread.detach() : thread.join();
}

Status Queue::check(const Submission& submission) const {
  for (const auto& [commands, table] : submission.commands) {
    if (commands == nullptr) return invalid_argument("submit: the command buffer is null");
    if (&commands->device_info() != device_info_.get()) {
      return invalid_argument("submit: the command buffer belongs to another device ({}, not {})",
                              commands->device_info().name, device_info_->name);
    }
    TL_RETURN_IF_ERROR(commands->check_submission(table).with_context("submit"));
  }
  for (const auto* points : {&submission.waits, &submission.signals}) {
    for (const TimelinePoint& point : *points) {
      if (point.semaphore == nullptr) return invalid_argument("submit: a semaphore is null");
    }
  }
  return {};
}

// Checks it, takes its command buffers, and leaves out those that are empty.
Status Queue::accept(Submission& submission) const {
  TL_RETURN_IF_ERROR(check(submission));
  for (std::size_t i = 0; i < submission.commands.size(); ++i) {
    if (submission.commands[i].commands->claim()) continue;
    while (i > 0) submission.commands[--i].commands->unclaim();
    return invalid_argument("submit: the command buffer was submitted before, and is not reusable");
  }
  std::erase_if(submission.commands, [](const SubmittedCommands& commands) {
    return commands.commands->segments().empty();
  });
  return {};
}

Status Queue::submit(std::shared_ptr<const CommandBuffer> commands) {
  return submit(Submission{.waits = {}, .commands = {std::move(commands)}, .signals = {}});
}

Status Queue::submit(Submission submission) {
  TL_RETURN_IF_ERROR(accept(submission));
  if (submission.waits.empty() && submission.commands.empty() && submission.signals.empty())
    return {};
  // What it signals may release this queue before this returns.
  const std::shared_ptr<State> state = state_;
  return state->submit(std::move(submission), false, state).status();
}

Status Queue::run(Submission submission) {
  TL_RETURN_IF_ERROR(state_->check_wait());
  TL_RETURN_IF_ERROR(accept(submission));
  const std::shared_ptr<State> state = state_;  // as in submit
  TL_ASSIGN_OR_RETURN(const State::Ticket ticket,
                      state->submit(std::move(submission), true, state));
  return state->wait(ticket);
}

Status Queue::wait_idle(Deadline deadline) {
  const std::shared_ptr<State> state = state_;  // as in submit
  TL_RETURN_IF_ERROR(state->check_wait());
  return state->wait_idle(deadline);
}

bool Queue::is_idle() const { return state_->is_idle(); }
std::uint64_t Queue::backlog() const { return state_->backlog(); }
bool Queue::runs_on_calling_thread() const { return state_->is_working(); }

}  // namespace texloom::hal
