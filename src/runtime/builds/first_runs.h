// Follows the first runs of a plan's kernels, on a device that compiles kernels when they first
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/builds/kernel_builds.h"
#include "runtime/hal/semaphore.h"

namespace texloom::runtime {

// Thread safe. May be released before the first runs are complete.
class FirstRuns {
 public:
  explicit FirstRuns(std::size_t kernels) : were_launched_(kernels) {}

  bool was_launched(std::uint32_t kernel) const;
  // Adds a kernel that was not launched before. Returns the point that its first launch
  // must signal, after the points of earlier calls.
  hal::TimelinePoint launch(std::uint32_t kernel);

  // See DeviceProgram::first_runs().
  std::optional<KernelProgress> progress() const;

 private:
  // Has the value n when the first runs of the first n kernels of `order_` are complete.
  const std::shared_ptr<hal::Semaphore> complete_ = hal::Semaphore::create();
  mutable std::mutex mutex_;         // guards all below
  std::vector<bool> were_launched_;  // by kernel
  std::vector<std::uint32_t> order_;
};

}  // namespace texloom::runtime
