// Records the launches of a plan into command buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/hal/binding.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/types.h"
#include "runtime/plan/kernels.h"
#include "runtime/plan/plan.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// Records the calls of custom operators.
class CallRecorder {
 public:
  virtual ~CallRecorder() = default;
  // `tensors` are the tensors of the step, in order. `origins` are their origins in their textures;
  // (0, 0) for buffers.
  virtual Status record(const CallStep& step, std::span<const hal::BindingRef> tensors,
                        std::span<const hal::Offset2D> origins, hal::CommandBuffer& commands) = 0;
};

// The objects to which the steps of a plan refer by number. Memory may be a slot of the table that
// comes with each submission.
struct PlanBindings {
  std::span<const LoadedKernel> kernels;
  std::span<const hal::BindingRef> arguments = {};
  std::span<const hal::Constant> scalars = {};
  std::span<const hal::BindingRef> temporaries = {};
  std::span<const hal::BindingRef> constants = {};
  // The origins of textures in slots, by slot; (0, 0) for slots beyond the end.
  std::span<const hal::Offset2D> slot_origins = {};
  CallRecorder* calls = nullptr;  // required by plans with calls
};

// Returns the command buffer that takes the next command, with arguments of that many bytes: a
// launch of that kernel, or a call if there is no kernel. Null ends the recording without an error.
using NextCommandBuffer = FunctionRef<Result<hal::CommandBuffer*>(
    std::optional<std::uint32_t> kernel, std::uint64_t bytes)>;

// `plan` is valid and has no symbols (see instantiate). The caller has checked that the bindings
// fit the plan. Barriers that the plan names are recorded between commands of one command buffer,
// since command buffers run one after another. Errors:
//
// * those of CommandBuffer::dispatch, of `next` and of the call recorder;
// * Unimplemented: a call without a recorder;
// * InvalidArgument: a grid that cannot be launched.
Status record(const LaunchPlan& plan, const PlanBindings& bindings, NextCommandBuffer next);

// Records everything into a command buffer that the caller submits.
Status record(const LaunchPlan& plan, const PlanBindings& bindings, hal::CommandBuffer& commands);

}  // namespace texloom::runtime
