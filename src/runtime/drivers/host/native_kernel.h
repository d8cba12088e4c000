// Kernels that are native functions (support/processor/native_abi.h), wherever they come from.
#pragma once

#include <memory>

#include "runtime/drivers/host/kernel_loader.h"
#include "support/processor/native_abi.h"

namespace texloom::hal::host {

// The kernel of a function; `code` keeps it in memory, and is null for functions of the program.
std::shared_ptr<const Kernel> make_native_kernel(texloom_native_kernel* function,
                                                 std::shared_ptr<const void> code);

}  // namespace texloom::hal::host
