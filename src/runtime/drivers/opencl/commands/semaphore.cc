#include "runtime/drivers/opencl/commands/semaphore.h"

#include <utility>

namespace texloom::hal::opencl {

void OpenClSemaphore::add(std::uint64_t value, SharedEvent event) {
  const std::scoped_lock lock(mutex_);
  events_.insert_or_assign(value, std::move(event));
}

SharedEvent OpenClSemaphore::event_for(std::uint64_t value) const {
  const std::scoped_lock lock(mutex_);
  const auto found = events_.lower_bound(value);
  return found == events_.end() ? nullptr : found->second;
}

void OpenClSemaphore::reached(std::uint64_t value) {
  std::map<std::uint64_t, SharedEvent> complete;  // its events are released after the lock
  const std::scoped_lock lock(mutex_);
  while (!events_.empty() && events_.begin()->first <= value)
    complete.insert(events_.extract(events_.begin()));
}

void OpenClSemaphore::failed() {
  std::map<std::uint64_t, SharedEvent> dropped;
  const std::scoped_lock lock(mutex_);
  dropped.swap(events_);
}

}  // namespace texloom::hal::opencl
