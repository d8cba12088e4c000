// The policy by which a program accepts kernels from package files.
#pragma once

#include <span>

#include "runtime/package/package.h"
#include "support/kernel_format.h"
#include "support/status.h"

namespace texloom::runtime {

// Kernels are code, so taking them means trusting the file. Code that is not taken is left out. A
// variant with a kernel that has no other code cannot run, and a package of such variants alone is
// refused.
struct KernelPolicy {
  // Code that a compiler has to translate (OpenCL C, Metal's language, the text form).
  bool takes_source = true;
  // Machine code that runs in the process, with all of its rights; also that of parts for the host
  // (plan/host_parts.h).
  bool takes_native = false;

  bool takes(KernelFormat format) const;
};

// Removes the code that is not taken. Unavailable if no variant of a package is left with code for
// all kernels. Every module has code.
Status leave_out_kernels(std::span<Package> packages, const KernelPolicy& policy);

}  // namespace texloom::runtime
