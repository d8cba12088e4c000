#include "runtime/hal/queue.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

namespace texloom::hal {

namespace {

// What a submission still waits for. Guarded by the mutex of the queue's state.
struct Gate {
  std::size_t missing = 0;
  Status error;
  bool registered = false;               // with all semaphores
  std::vector<std::uint64_t> callbacks;  // there, for Semaphore::cancel

  bool is_open() const { return registered && (missing == 0 || !error.ok()); }
};

struct Waiting {
  Submission submission;
  std::shared_ptr<Gate> gate;
};

struct Started {
  Submission submission;
  std::unique_ptr<QueueBackend::Work> work;  // null where nothing was started
  Status error;
};

}  // namespace

// Shared with the queue's threads and with the callbacks of semaphores, which may outlive it.
struct Queue::State {
  explicit State(std::unique_ptr<QueueBackend> driver) : backend(std::move(driver)) {}

  // The starting thread: gives submissions to the driver, one by one, as their gates open.
  void start_submissions() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] {
        return waiting.empty() ? stopping : stopping || waiting.front().gate->is_open();
      });
      if (waiting.empty()) break;
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      if (!next.gate->is_open()) {
        next.gate->error = Status(StatusCode::Unavailable,
                                  "the queue was released before what a submission waits for came");
      }
      Started begun{std::move(next.submission), nullptr, next.gate->error};
      lock.unlock();
      for (std::size_t i = 0; i < next.gate->callbacks.size(); ++i) {
        begun.submission.waits[i].semaphore->cancel(next.gate->callbacks[i]);
      }
      begun.submission.waits.clear();
      if (begun.error.ok() && !begun.submission.commands.empty()) {
        Result<std::unique_ptr<QueueBackend::Work>> work =
            backend->start(begun.submission.commands);
        if (work.ok()) {
          begun.work = *std::move(work);
        } else {
          begun.error = work.status().with_context("submit");
        }
      }
      lock.lock();
      started.push_back(std::move(begun));
      changed.notify_all();
    }
    all_started = true;
    changed.notify_all();
  }

  // The completing thread: waits for the driver, and signals.
  void complete_submissions() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return !started.empty() || all_started; });
      if (started.empty()) return;
      Started next = std::move(started.front());
      started.pop_front();
      lock.unlock();
      Status status = next.work == nullptr ? next.error : next.work->wait();
      next.work.reset();
      next.submission.commands.clear();
      for (const TimelinePoint& signal : next.submission.signals) {
        const Status told =
            status.ok() ? signal.semaphore->signal(signal.value) : signal.semaphore->fail(status);
        if (status.ok()) status = told;
      }
      next.submission.signals.clear();
      lock.lock();
      if (first_error.ok()) first_error = std::move(status);
      ++completed;
      changed.notify_all();
    }
  }

  std::unique_ptr<QueueBackend> backend;

  std::mutex mutex;  // of all below; neither the driver nor a semaphore is called with it
  std::condition_variable changed;
  std::deque<Waiting> waiting;
  std::deque<Started> started;
  std::uint64_t submitted = 0, completed = 0;
  Status first_error;
  bool stopping = false;     // no more is submitted
  bool all_started = false;  // nothing is added to `started` any more
};

Result<std::shared_ptr<Queue>> Queue::create(std::shared_ptr<const DeviceInfo> device_info,
                                             std::unique_ptr<QueueBackend> backend) {
  auto state = std::make_shared<State>(std::move(backend));
  std::shared_ptr<Queue> queue(new Queue(std::move(device_info), state));
  try {
    queue->threads_.emplace_back([state] { state->start_submissions(); });
    queue->threads_.emplace_back([state] { state->complete_submissions(); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::Unavailable, "no thread for a queue: {}", error.what());
  }
  return queue;
}

Queue::~Queue() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  // A callback of a semaphore may be what releases the last handle: in a thread of the queue.
  const bool own_thread = std::any_of(threads_.begin(), threads_.end(), [](const std::thread& t) {
    return t.get_id() == std::this_thread::get_id();
  });
  for (std::thread& thread : threads_) own_thread ? thread.detach() : thread.join();
}

Status Queue::check(const Submission& submission) const {
  for (const std::shared_ptr<const CommandBuffer>& commands : submission.commands) {
    if (commands == nullptr) return invalid_argument("submit: the command buffer is null");
    if (&commands->device_info() != device_info_.get()) {
      return invalid_argument("submit: the command buffer belongs to another device ({}, not {})",
                              commands->device_info().name, device_info_->name);
    }
    if (!commands->finished()) {
      return invalid_argument("submit: the command buffer is not finished");
    }
  }
  for (const auto* points : {&submission.waits, &submission.signals}) {
    for (const TimelinePoint& point : *points) {
      if (point.semaphore == nullptr) return invalid_argument("submit: a semaphore is null");
    }
  }
  return {};
}

Status Queue::submit(std::shared_ptr<const CommandBuffer> commands) {
  return submit(Submission{.commands = {std::move(commands)}});
}

Status Queue::submit(Submission submission) {
  TL_RETURN_IF_ERROR(check(submission));
  std::erase_if(submission.commands,
                [](const auto& commands) { return commands->segments().empty(); });
  if (submission.commands.empty() && submission.signals.empty()) return {};
  // What it signals may release this queue before this returns.
  const std::shared_ptr<State> state = state_;
  const auto gate = std::make_shared<Gate>();
  const std::vector<TimelinePoint> waits = submission.waits;
  gate->missing = waits.size();
  {
    const std::scoped_lock lock(state->mutex);
    state->waiting.push_back({std::move(submission), gate});
    ++state->submitted;
  }
  const auto arrived = [state, gate](const Status& status) {
    const std::scoped_lock lock(state->mutex);
    --gate->missing;
    if (gate->error.ok()) gate->error = status;
    state->changed.notify_all();
  };
  std::vector<std::uint64_t> callbacks;
  for (const TimelinePoint& wait : waits) {
    callbacks.push_back(wait.semaphore->when_reached(wait.value, arrived));
  }
  const std::scoped_lock lock(state->mutex);
  gate->callbacks = std::move(callbacks);
  gate->registered = true;
  state->changed.notify_all();
  return {};
}

Status Queue::wait_idle() {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t submitted = state_->submitted;
  state_->changed.wait(lock, [&] { return state_->completed >= submitted; });
  return std::exchange(state_->first_error, Status());
}

bool Queue::is_idle() {
  const std::scoped_lock lock(state_->mutex);
  return state_->completed == state_->submitted;
}

}  // namespace texloom::hal
