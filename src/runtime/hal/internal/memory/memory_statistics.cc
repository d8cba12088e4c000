#include "runtime/hal/memory_statistics.h"

#include <algorithm>

namespace texloom::hal {

MemoryCharge::MemoryCharge(std::shared_ptr<MemoryCounter> counter, MemoryCount& count,
                           std::uint64_t bytes)
    : counter_(std::move(counter)), count_(&count), bytes_(bytes) {
  const std::lock_guard lock(counter_->mutex_);
  count.bytes += bytes;
  count.objects += 1;
  count.peak_bytes = std::max(count.peak_bytes, count.bytes);
  count.peak_objects = std::max(count.peak_objects, count.objects);
}

MemoryCharge::~MemoryCharge() {
  if (counter_ == nullptr) return;
  const std::lock_guard lock(counter_->mutex_);
  count_->bytes -= bytes_;
  count_->objects -= 1;
}

}  // namespace texloom::hal
