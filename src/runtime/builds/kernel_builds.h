// Builds the executables of a plan, several at a time, and reports the progress.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/hal/executable.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// The number of a plan's compiled kernels, and the kernel that is being compiled.
struct KernelProgress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::size_t current = 0;  // index of the first kernel that is not built yet
};

// Builds the executables on as many threads as the processor has. The calling thread calls
// `goes_on` every 20 ms until all are built. After `goes_on` has returned false or thrown, no
// further build begins. Builds that have begun cannot be stopped, so this function waits for them.
// Returns the error of the first executable that has one; Cancelled if `goes_on` returned false;
// Unavailable if the process cannot create a thread.
Status build_side_by_side(std::span<const std::shared_ptr<hal::Executable>> executables,
                          FunctionRef<bool(const KernelProgress&)> goes_on);

}  // namespace texloom::runtime
