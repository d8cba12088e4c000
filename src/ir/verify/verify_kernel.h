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

// Checks that a parameter is a buffer in global memory or a scalar variable.
void check_param(const Kernel& kernel, const KernelParam& param, Violations& found);
// Checks that each thread tag occurs once, in order, and that grid and block are the extents.
void check_axes(const Kernel& kernel, Violations& found);
// Checks that shared buffers are allocated around the whole body.
void check_shared_buffers(const Kernel& kernel, Violations& found);
// Checks that a buffer is declared with the accesses that the body makes, and that no texture is
// both read and written.
void check_access(const Kernel& kernel, const KernelParam& param, Usage usage, Violations& found);
// Checks that SIMD-groups can make the steps of fragments (ir/analysis/fragments.h).
void check_fragment_steps(const Kernel& kernel, Violations& found);
// Checks that the kernel needs no more than the target has, and that its shuffles stay within
// SIMD-groups.
void check_limits(const Kernel& kernel, ProgramStage stage, const Target& target,
                  Violations& found);

}  // namespace texloom::ir
