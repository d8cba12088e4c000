// Builds the executables of a plan, several at a time, and tells how far they are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/hal/executable.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// How many of some kernels are compiled, and one that is being compiled.
struct KernelProgress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::size_t current = 0;  // the place of the first kernel that is not done
};

// Builds the executables on as many threads as the processor has. The calling thread calls
// `goes_on` every 20 ms until all are built; after it has returned false, no other build begins,
// but builds that have begun cannot be stopped and are waited for. Returns the error of the first
// executable that has one; Unavailable if `goes_on` ended it or there are no threads.
Status build_side_by_side(std::span<const std::shared_ptr<hal::Executable>> executables,
                          FunctionRef<bool(const KernelProgress&)> goes_on);

}  // namespace texloom::runtime
