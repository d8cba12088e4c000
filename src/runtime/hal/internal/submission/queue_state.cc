#include "runtime/hal/internal/submission/queue_state.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "runtime/hal/no_waits.h"

namespace texloom::hal {

namespace {

using internal::Gate;
using internal::Pending;
using std::chrono::steady_clock;

// The time for which a wait with a deadline polls before it leaves the work to the threads.
constexpr std::chrono::microseconds kBusy(2000);

// Prevents a woken thread from preempting the thread that submits (Linux: sched(7), SCHED_BATCH).
void let_others_finish_first() {
#ifdef SCHED_BATCH
  const sched_param parameters = {};
  static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters));
#endif
}

// The submission has been checked with this table.
Status make_host_call(const HostCall& call, std::span<const Binding> table) {
  std::vector<Binding> named;
  for (const BindingRef& each : call.memory) {
    if (const auto* buffer = std::get_if<BufferBinding>(&each)) {
      named.emplace_back(*buffer);
    } else if (const auto* texture = std::get_if<TextureBinding>(&each)) {
      named.emplace_back(*texture);
    } else {
      const auto& slot = std::get<BindingSlot>(each);
      named.push_back(table[slot.index]);
      if (auto* bound = std::get_if<BufferBinding>(&named.back())) bound->offset += slot.offset;
    }
  }
  return call.function({.named = named, .table = table});
}

}  // namespace

void Queue::State::start_front(Lock& lock) {
  starter_ = std::this_thread::get_id();
  Pending next = std::move(waiting_.front());
  waiting_.pop_front();
  being_started_ = &next;
  Status error = next.earlier_error();
  if (next.gate != nullptr) {
    if (error.ok() && next.gate->is_open()) {
      error = next.gate->error;
    } else if (error.ok()) {
      error = Status(
          StatusCode::Unavailable,
          "the queue was released before the points that a submission waits for were reached");
    }
    if (next.gate->is_over()) {
      next.gate->release(lock);
      next.gate.reset();
    }
  }
  lock.unlock();
  if (error.ok() && next.host_call != nullptr) {
    const HostSpan span(profile_.get(), "a host call");
    error = make_host_call(*next.host_call, next.host_call_table).with_context("a host call");
  } else if (error.ok() && !next.ranges.empty()) {
    error = start_on_device(next);
  }
  lock.lock();
  next.outcome->error = std::move(error);
  being_started_ = nullptr;
  started_.push_back(std::move(next));
  starter_.reset();
}

Status Queue::State::start_on_device(Pending& next) {
  const HostSpan span(profile_.get(), "start a submission");
  std::vector<TimelinePoint> waits;
  if (next.gate != nullptr) {
    const std::scoped_lock lock(mutex_);
    waits = next.gate->native_waits();
    TL_RETURN_IF_ERROR(next.gate->error);
  }
  const auto scope = backend_->enter();
  auto work = backend_->start({.waits = waits, .ranges = next.ranges, .signals = next.signals});
  if (!work.ok()) return work.status().with_context("submit");
  next.work = *std::move(work);
  for (const TimelinePoint& signal : next.signals) {
    if (signal.semaphore->backend() != nullptr) signal.semaphore->schedule(signal.value);
  }
  return {};
}

// Completes the front or, on the queue's own thread, everything up to the first part that signals:
// a wait for each part is not needed, because all parts are complete when the last one is complete.
void Queue::State::complete(std::size_t most, Lock& lock) {
  completer_ = std::this_thread::get_id();
  std::vector<Pending> run;
  std::vector<Status> statuses;
  do {
    run.push_back(std::move(started_.front()));
    started_.pop_front();
    statuses.push_back(run.back().outcome->error);
  } while (run.size() < most && !started_.empty() && run.back().signals.empty() &&
           (stopping_ || started_.front().waits_are_over()));
  being_completed_ = &run.back();
  lock.unlock();
  {
    const auto scope = backend_->enter();
    for (std::size_t i = run.size(); i-- > 0;) {
      if (run[i].work == nullptr) continue;
      const HostSpan span(profile_.get(), "wait for the device");
      statuses[i] = run[i].work->wait();
      run[i].work.reset();
    }
  }
  lock.lock();
  for (std::size_t i = 0; i < run.size(); ++i) settle(run[i], std::move(statuses[i]), lock);
  completer_.reset();
  // The front may be a host call that waited for the parts completed here, or a wait of the front
  // may have ended.
  if (can_start()) startable_.notify_one();
  progress_.notify_all();
}

// Ends a submission that the driver has finished, when all earlier ones are settled: releases the
// objects that it kept, records its outcome and signals.
void Queue::State::settle(Pending& done, Status status, Lock& lock) {
  if (done.gate != nullptr) {
    // The error of a wait that was left to the device takes precedence over the driver's error.
    if (!done.gate->error.ok()) status = done.gate->error;
    done.gate->release(lock);
    done.gate.reset();
  }
  if (status.ok()) status = done.earlier_error();
  lock.unlock();
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
  done.signals.clear();  // may release the last handle of a semaphore
  lock.lock();
}

void Queue::State::leave_to_threads() {
  if (can_start() || stopping_) startable_.notify_one();
  if (can_complete() || stopping_) completable_.notify_one();
}

// Wakes the thread that completes work first, because the driver may take long to start work.
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
    // A waiting thread that helps (see helpers_) checks the queue by itself, and sleeps only while
    // another thread completes work.
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

void Queue::State::start_until(std::uint64_t number, Lock& lock) {
  const std::thread::id self = std::this_thread::get_id();
  const auto is_started = [&] {
    return submitted_ - waiting_.size() - (being_started_ == nullptr ? 0 : 1) >= number;
  };
  while (!is_started()) {
    if (can_start()) {
      start_front(lock);
      leave_to_threads();
      progress_.notify_all();
    } else if (starter_ == self || completer_ == self) {
      return;  // a host call or a callback, for which the earlier work waits
    } else if (!starter_ && !waiting_.front().is_open()) {
      return;
    } else if (!starter_ && can_complete()) {
      complete(1, lock);  // the front is a host call, which follows the work before it
    } else {
      progress_.wait(lock);
    }
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

// Whether the device has finished the front. The driver may run a part of it meanwhile.
bool Queue::State::front_is_complete(Lock& lock) {
  QueueBackend::Work* const work = started_.front().work.get();
  if (work == nullptr) return true;
  completer_ = std::this_thread::get_id();
  lock.unlock();
  bool is_complete = false;
  {
    const auto scope = backend_->enter();
    is_complete = work->is_complete();
  }
  lock.lock();
  completer_.reset();
  return is_complete;
}

// Alternately starts and completes submissions while possible; returns whether `completed`
// submissions are complete.
bool Queue::State::busy_wait_until(std::uint64_t completed, const Deadline& deadline, Lock& lock) {
  const steady_clock::time_point end = std::min(*deadline, steady_clock::now() + kBusy);
  ++helpers_;
  while (completed_ < completed && steady_clock::now() < end) {
    if (can_start_without_a_host_call()) {
      help_to_start(lock);
    } else if (can_complete() && front_is_complete(lock)) {
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
  TL_RETURN_IF_ERROR(check_may_wait());
  if (!is_working()) return {};
  return invalid_argument(
      "a host call or a semaphore callback waits for its own queue, which would never end");
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
  if (!done)
    return make_error(StatusCode::DeadlineExceeded, "the queue is not idle at the deadline");
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
  if (is_working()) return;  // an exit() inside a host call would wait for its own thread
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

// The first pending submission that will signal the point; null if there is none.
const Pending* Queue::State::find_signaler(const TimelinePoint& point) const {
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
  const bool is_started_by_caller = is_awaited || submission.is_awaited;
  std::vector<Pending> parts =
      internal::split(std::move(submission.commands), std::move(submission.signals));
  Lock lock(mutex_);
  if (stopping_) return make_error(StatusCode::Unavailable, "submit: the process is about to end");
  std::erase_if(awaited, [&](const TimelinePoint& point) {
    if (internal::is_reached(point)) return true;
    if (!point.semaphore->value().ok()) return false;  // the callback gets the error
    const Pending* earlier = find_signaler(point);
    if (earlier != nullptr) parts.front().after.push_back({earlier->outcome, point});
    return earlier != nullptr;
  });
  std::shared_ptr<Gate> gate;
  if (!awaited.empty()) {
    parts.front().gate = gate = std::make_shared<Gate>(awaited);
  }
  const bool is_for_device = parts.front().is_for_device();
  submitted_ += parts.size();
  const Ticket ticket{submitted_, parts.back().outcome};
  for (Pending& part : parts) {
    part.is_awaited = is_awaited;
    waiting_.push_back(std::move(part));
  }
  if (gate != nullptr) {
    lock.unlock();
    watch(gate, awaited, is_for_device, self);
    lock.lock();
    gate->registered = true;
  }
  // Waking a thread takes longer than the rest of this function. A caller that waits for the
  // submission starts it itself; code that prevents a start wakes the thread afterwards.
  if (is_shared_) {
    start_until(ticket.number, lock);
  } else if (!is_started_by_caller && can_start()) {
    startable_.notify_one();
  }
  progress_.notify_all();
  return ticket;
}

bool Queue::State::may_be_native(const TimelinePoint& point) const {
  return point.semaphore->backend() != nullptr &&
         point.semaphore->device_info() == device_info_.get();
}

// Wakes the threads that can proceed now that a wait of the gate has ended or is left to the
// device.
void Queue::State::wake_for(const Gate& gate) {
  if (!gate.is_open()) return;
  startable_.notify_one();
  if (gate.is_over()) completable_.notify_one();
  progress_.notify_all();
}

// Registers the waits of a gate with their semaphores.
void Queue::State::watch(const std::shared_ptr<Gate>& gate,
                         const std::vector<TimelinePoint>& points, bool is_for_device,
                         const std::shared_ptr<State>& self) {
  decltype(gate->callbacks) callbacks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TimelinePoint& point = points[i];
    if (is_for_device && may_be_native(point)) {
      const auto scheduled = [self, gate, i](const Status&) {
        const std::scoped_lock lock(self->mutex_);
        const TimelinePoint& waited = gate->waits[i].point;
        if (waited.semaphore == nullptr || !self->backend_->can_wait(waited)) return;
        gate->leave_to_device(i);
        self->wake_for(*gate);
      };
      callbacks.emplace_back(point.semaphore,
                             point.semaphore->when_scheduled(point.value, scheduled));
    }
    const auto ended = [self, gate, i](const Status& status) {
      const std::scoped_lock lock(self->mutex_);
      gate->end_wait(i, status);
      self->wake_for(*gate);
    };
    callbacks.emplace_back(point.semaphore, point.semaphore->when_reached(point.value, ended));
  }
  const std::scoped_lock lock(mutex_);
  gate->callbacks = std::move(callbacks);
}

}  // namespace texloom::hal
