#include "plan/buffers/effort.h"

#include <algorithm>

namespace texloom::plan {

namespace {

// The clock and the callback are asked after this many steps. A step takes microseconds, so asking
// costs next to nothing, and planning ends soon enough.
constexpr std::int64_t kStepsBetweenLooks = 256;

}  // namespace

Budget::Budget(const Effort& effort)
    : steps_(std::max<std::int64_t>(effort.steps, 0)), canceled_(effort.canceled) {
  if (!effort.time_limit.has_value()) return;
  const auto now = std::chrono::steady_clock::now();
  // A limit beyond the range of the clock never applies.
  if (*effort.time_limit < std::chrono::steady_clock::time_point::max() - now) {
    deadline_ = now + *effort.time_limit;
  }
}

bool Budget::spend(std::int64_t count) {
  if (exhausted_) return false;
  if (count > steps_ - spent_) return !(exhausted_ = true);
  spent_ += count;
  if (spent_ >= next_look_) {
    next_look_ = spent_ + std::min(kStepsBetweenLooks, steps_ - spent_ + 1);
    exhausted_ = ends_now();
  }
  return !exhausted_;
}

bool Budget::ends_now() const {
  if (deadline_.has_value() && std::chrono::steady_clock::now() >= *deadline_) return true;
  return canceled_ && canceled_();
}

}  // namespace texloom::plan
