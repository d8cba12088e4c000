#include "runtime/builds/first_runs.h"

namespace texloom::runtime {

bool FirstRuns::was_launched(std::uint32_t kernel) const {
  const std::lock_guard lock(mutex_);
  return were_launched_[kernel];
}

hal::TimelinePoint FirstRuns::launch(std::uint32_t kernel) {
  const std::lock_guard lock(mutex_);
  were_launched_[kernel] = true;
  order_.push_back(kernel);
  return {complete_, order_.size()};
}

std::optional<KernelProgress> FirstRuns::progress() const {
  const auto complete = complete_->value();
  const std::lock_guard lock(mutex_);
  if (!complete.ok() || *complete >= order_.size()) return std::nullopt;
  return KernelProgress{.done = static_cast<std::size_t>(*complete),
                        .total = were_launched_.size(),
                        .current = order_[*complete]};
}

}  // namespace texloom::runtime
