// Records the launches of a plan into command buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/hal/binding.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/executable.h"
#include "runtime/launch_plan.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// What the steps of a plan refer to by number.
struct PlanBindings {
  std::span<const std::shared_ptr<hal::Executable>> executables;  // by kernel; entry point 0
  std::span<const hal::Binding> arguments = {};
  std::span<const hal::Constant> scalars = {};
  std::span<const hal::Binding> temporaries = {};
};

// Returns the command buffer that takes the next launch, of that kernel with arguments of that many
// bytes; null ends the recording without an error.
using NextCommandBuffer =
    FunctionRef<Result<hal::CommandBuffer*>(std::uint32_t kernel, std::uint64_t bytes)>;

// `plan` is valid and has no symbols (see instantiate). The bindings fit it: the caller has checked
// them. Fails with what CommandBuffer::dispatch or `next` reports, or a grid that cannot be
// launched.
Status record(const LaunchPlan& plan, const PlanBindings& bindings, NextCommandBuffer next);

// Records everything into a command buffer of the caller, who submits it.
Status record(const LaunchPlan& plan, const PlanBindings& bindings, hal::CommandBuffer& commands);

}  // namespace texloom::runtime
