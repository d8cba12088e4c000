// The verifier's rules about what a kernel declares, apart from its body.
#pragma once

#include "ir/program.h"
#include "ir/target/target.h"
#include "ir/verify/violations.h"

namespace texloom::ir {

// How a body uses a parameter.
struct Usage {
  bool read = false, write = false;
};

// A parameter is a buffer in global memory or an index variable.
void check_param(const Kernel& kernel, const KernelParam& param, Violations& found);
// Each thread tag stands there once, in order, and the grid and the block are the extents.
void check_axes(const Kernel& kernel, Violations& found);
// Shared buffers are allocated around the whole body.
void check_shared_buffers(const Kernel& kernel, Violations& found);
// A buffer is declared as what the body does to it, and no texture is read and written.
void check_access(const Kernel& kernel, const KernelParam& param, Usage usage, Violations& found);
void check_limits(const Kernel& kernel, const Target& target, Violations& found);

}  // namespace texloom::ir
