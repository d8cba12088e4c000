// Functions of a command buffer that run on the host (CommandBuffer::host_call).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "support/status.h"

namespace texloom::hal {

// The memory that one submission gives a host call; valid during the call.
struct HostCallMemory {
  std::span<const Binding> named;  // as recorded, with the table's entries instead of slots
  std::span<const Binding> table;  // the table of the submission
};

// A recorded host call.
struct HostCall {
  std::vector<BindingRef> memory;
  std::function<Status(const HostCallMemory&)> function;
};

}  // namespace texloom::hal
