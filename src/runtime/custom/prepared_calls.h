// Prepares a plan's calls of custom operators, and records them.
#pragma once

#include <memory>
#include <vector>

#include "runtime/custom/operator.h"
#include "runtime/custom/operator_registry.h"
#include "runtime/hal/device.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/record.h"
#include "support/status.h"

namespace texloom::runtime {

struct PrepareOptions {
  // Finds operators that write memory which they do not declare as written. Before and after every
  // call, the memory objects of its tensors and of the submission's table are read back. They may
  // differ only where the call may write. The error names the operator and the tensor. Slow, and
  // only for one run at a time: writes of other work to these objects would be reported as the
  // operator's.
  bool check_writes = false;
};

// The calls of one plan on one device, as PlanBindings::calls takes them. Thread safe, so several
// executors may share it. May be released before the recordings have run.
class PreparedCalls final : public CallRecorder {
 public:
  ~PreparedCalls() override;

  // InvalidArgument if the commands belong to another device; otherwise the errors of the operator.
  Status record(const CallStep& step, std::span<const hal::BindingRef> tensors,
                std::span<const hal::Offset2D> origins, hal::CommandBuffer& commands) override;

 private:
  struct Call;
  class Maker;
  friend Result<std::unique_ptr<PreparedCalls>> prepare_calls(
      const OperatorRegistry& registry, const LaunchPlan& plan,
      const std::shared_ptr<hal::Device>& device, const PrepareOptions& options);

  explicit PreparedCalls(std::shared_ptr<hal::Device> device);
  Status encode(const Call& call, std::span<const hal::BindingRef> tensors,
                std::span<const hal::Offset2D> origins, hal::CommandBuffer& commands) const;

  std::shared_ptr<hal::Device> device_;
  std::vector<std::unique_ptr<const Call>> calls_;
};

// Prepares each call of a valid plan without symbols, once for the same operator with the same
// tensors. The errors name the operator and the argument: NotFound for an operator that is not
// registered (OperatorRegistry::find); InvalidArgument for a call that does not fit its operator
// (count, access, storage, layout and types of arguments; attributes; one tensor as two arguments,
// one of which is written); Unimplemented for a device of another driver; and those of
// CustomOperator::prepare.
Result<std::unique_ptr<PreparedCalls>> prepare_calls(const OperatorRegistry& registry,
                                                     const LaunchPlan& plan,
                                                     const std::shared_ptr<hal::Device>& device,
                                                     const PrepareOptions& options = {});

}  // namespace texloom::runtime
