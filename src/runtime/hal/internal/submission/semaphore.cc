#include "runtime/hal/semaphore.h"

#include <algorithm>
#include <condition_variable>
#include <utility>
#include <vector>

#include "runtime/hal/no_waits.h"

namespace texloom::hal {

namespace {

// Shared by a waiting thread and the callbacks that wake it, which may still run after the wait has
// given up.
struct Wakeup {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Status>> results;  // of each point, once known
};

// Registers with each semaphore while a thread waits.
class Waiter {
 public:
  explicit Waiter(std::span<const TimelinePoint> points) : points_(points) {
    wakeup_->results.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      numbers_.push_back(points[i].semaphore->when_reached(
          points[i].value, [wakeup = wakeup_, i](const Status& status) {
            const std::scoped_lock lock(wakeup->mutex);
            wakeup->results[i] = status;
            wakeup->changed.notify_all();
          }));
    }
  }
  ~Waiter() {
    for (std::size_t i = 0; i < numbers_.size(); ++i) points_[i].semaphore->cancel(numbers_[i]);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Waits until `done(results)` is true; returns false if the deadline comes first.
  template <class Done>
  bool wait(const Deadline& deadline, const Done& done) {
    std::unique_lock lock(wakeup_->mutex);
    const auto holds = [&] { return done(wakeup_->results); };
    if (deadline) return wakeup_->changed.wait_until(lock, *deadline, holds);
    wakeup_->changed.wait(lock, holds);
    return true;
  }

  // The status of the point, once known.
  Status result(std::size_t i) const {
    const std::scoped_lock lock(wakeup_->mutex);
    return wakeup_->results[i].value_or(Status());
  }

 private:
  std::span<const TimelinePoint> points_;
  std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>();
  std::vector<std::uint64_t> numbers_;
};

using Results = std::vector<std::optional<Status>>;

Status check(std::span<const TimelinePoint> points) {
  TL_RETURN_IF_ERROR(check_may_wait());
  for (const TimelinePoint& point : points) {
    if (point.semaphore == nullptr) return invalid_argument("wait: a semaphore is null");
  }
  return {};
}

Status too_late(std::span<const TimelinePoint> points) {
  return make_error(StatusCode::DeadlineExceeded, "{} not reached in time",
                    points.size() == 1 ? fmt::format("the value {} is", points.front().value)
                                       : fmt::format("{} values are", points.size()));
}

}  // namespace

Deadline after(std::chrono::nanoseconds time) {
  // A deadline beyond the range of the clock never comes.
  const auto now = std::chrono::steady_clock::now();
  if (time > std::chrono::steady_clock::time_point::max() - now) return {};
  return now + time;
}

std::string_view to_string(ExternalSemaphoreKind kind) {
  switch (kind) {
    case ExternalSemaphoreKind::OpaqueFd:
      return "an opaque file descriptor";
    case ExternalSemaphoreKind::SharedEvent:
      return "a shared event";
  }
  return "";
}

Result<ExternalSemaphore> SemaphoreBackend::export_as(ExternalSemaphoreKind kind) {
  return make_error(StatusCode::Unimplemented, "the driver cannot export a semaphore as {}",
                    to_string(kind));
}

Semaphore::Semaphore(const SemaphoreDesc& desc, std::shared_ptr<const DeviceInfo> device_info,
                     std::unique_ptr<SemaphoreBackend> backend)
    : device_info_(std::move(device_info)), backend_(std::move(backend)), value_(desc.value) {}

std::shared_ptr<Semaphore> Semaphore::create(const SemaphoreDesc& desc,
                                             std::shared_ptr<const DeviceInfo> device_info,
                                             std::unique_ptr<SemaphoreBackend> backend) {
  const std::shared_ptr<Semaphore> semaphore(
      new Semaphore(desc, std::move(device_info), std::move(backend)));
  if (semaphore->backend_ != nullptr) semaphore->backend_->attach(semaphore);
  return semaphore;
}

Semaphore::~Semaphore() {
  const Status error(StatusCode::InvalidArgument,
                     "the semaphore was released before it reached the value");
  for (const auto& [value, waiting] : waiting_) waiting.second(error);
}

Result<std::uint64_t> Semaphore::value() const {
  const std::scoped_lock lock(mutex_);
  if (!error_.ok()) return error_;
  return value_;
}

std::vector<Semaphore::Callback> Semaphore::take(Waiting& waiting, std::uint64_t value) {
  std::vector<Callback> taken;
  const auto end = waiting.upper_bound(value);
  for (auto each = waiting.begin(); each != end; ++each)
    taken.push_back(std::move(each->second.second));
  waiting.erase(waiting.begin(), end);
  return taken;
}

Status Semaphore::signal(std::uint64_t value) {
  std::vector<Callback> reached, too_late;
  {
    const std::scoped_lock lock(mutex_);
    if (!error_.ok()) return error_;
    if (value <= value_) {
      return invalid_argument(
          "signal: the semaphore is at {}, and cannot be set to {}: values must increase", value_,
          value);
    }
    value_ = value;
    reached = take(waiting_, value);
    too_late = take(waiting_for_schedule_, value);
  }
  if (backend_ != nullptr) backend_->reached(value);
  for (const Callback& callback : reached) callback(Status());
  return {};
}

Status Semaphore::fail(const Status& error) {
  if (error.ok())
    return invalid_argument("fail: a semaphore fails with an error, not with success");
  Waiting waiting, too_late;
  {
    const std::scoped_lock lock(mutex_);
    if (!error_.ok()) return {};
    error_ = error;
    waiting.swap(waiting_);
    too_late.swap(waiting_for_schedule_);
  }
  if (backend_ != nullptr) backend_->failed();
  for (const auto& [value, each] : waiting) each.second(error);
  return {};
}

Status Semaphore::wait(std::uint64_t value, Deadline deadline) {
  // A non-owning handle: the caller keeps the semaphore alive.
  const TimelinePoint point{std::shared_ptr<Semaphore>(std::shared_ptr<void>(), this), value};
  return wait_all({&point, 1}, deadline);
}

std::uint64_t Semaphore::when_reached(std::uint64_t value, Callback callback) {
  Status known;
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = next_number_++;
    if (error_.ok() && value > value_) {
      waiting_.emplace(value, std::pair(number, std::move(callback)));
      return number;
    }
    // A value reached before the failure stays reached.
    if (value > value_) known = error_;
  }
  callback(known);
  return number;
}

bool Semaphore::cancel(std::uint64_t number) {
  Callback forgotten;  // destroyed without the lock: it may own an object that uses this semaphore
  const std::scoped_lock lock(mutex_);
  for (Waiting* waiting : {&waiting_, &waiting_for_schedule_}) {
    const auto found = std::find_if(waiting->begin(), waiting->end(),
                                    [&](const auto& each) { return each.second.first == number; });
    if (found == waiting->end()) continue;
    forgotten = std::move(found->second.second);
    waiting->erase(found);
    return true;
  }
  return false;
}

Result<ExternalSemaphore> Semaphore::export_as(ExternalSemaphoreKind kind) const {
  if (backend_ != nullptr) return backend_->export_as(kind);
  return make_error(StatusCode::Unimplemented,
                    "the semaphore has no native object, so it cannot be exported as {}",
                    to_string(kind));
}

void Semaphore::schedule(std::uint64_t value) {
  std::vector<Callback> scheduled;
  {
    const std::scoped_lock lock(mutex_);
    if (!error_.ok() || value <= scheduled_) return;
    scheduled_ = value;
    scheduled = take(waiting_for_schedule_, value);
  }
  for (const Callback& callback : scheduled) callback(Status());
}

std::uint64_t Semaphore::when_scheduled(std::uint64_t value, Callback callback) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = next_number_++;
    if (!error_.ok() || value <= value_) return number;
    if (value > scheduled_) {
      waiting_for_schedule_.emplace(value, std::pair(number, std::move(callback)));
      return number;
    }
  }
  callback(Status());
  return number;
}

Status wait_all(std::span<const TimelinePoint> points, Deadline deadline) {
  TL_RETURN_IF_ERROR(check(points));
  Waiter waiter(points);
  const auto failed = [](const std::optional<Status>& r) { return r && !r->ok(); };
  const bool done = waiter.wait(deadline, [&](const Results& results) {
    return std::all_of(results.begin(), results.end(),
                       [](const auto& r) { return r.has_value(); }) ||
           std::any_of(results.begin(), results.end(), failed);
  });
  for (std::size_t i = 0; i < points.size(); ++i) TL_RETURN_IF_ERROR(waiter.result(i));
  return done ? Status() : too_late(points);
}

Result<std::size_t> wait_any(std::span<const TimelinePoint> points, Deadline deadline) {
  TL_RETURN_IF_ERROR(check(points));
  if (points.empty()) return invalid_argument("wait_any: there is nothing to wait for");
  Waiter waiter(points);
  std::size_t first = 0;
  const bool done = waiter.wait(deadline, [&](const Results& results) {
    const auto found =
        std::find_if(results.begin(), results.end(), [](const auto& r) { return r.has_value(); });
    first = static_cast<std::size_t>(found - results.begin());
    return found != results.end();
  });
  if (!done) return too_late(points);
  TL_RETURN_IF_ERROR(waiter.result(first));
  return first;
}

}  // namespace texloom::hal
