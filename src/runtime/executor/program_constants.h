// The constants of a plan in a device's memory.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/executor/constant_source.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Used by one thread at a time.
class ProgramConstants {
 public:
  explicit ProgramConstants(std::shared_ptr<ConstantSource> source) : source_(std::move(source)) {}

  // Allocates the plan's constants and writes them, then releases the source. Does nothing after a
  // successful upload. Waits for earlier work of the device's queue. After an error, which names
  // the constant, the next call tries again.
  Status upload(hal::Device& device, const LaunchPlan& plan);

  // One for each constant; empty before the upload.
  std::span<const hal::BindingRef> bindings() const { return bindings_; }

 private:
  std::shared_ptr<ConstantSource> source_;  // null after the upload
  std::vector<hal::BindingRef> bindings_;
};

}  // namespace texloom::runtime
