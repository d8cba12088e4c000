// Checks the table of an entry point against the compiled kernel, so that OpenCL is never given an
// argument or a workgroup size that it would refuse.
#pragma once

#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The build option under which kernels describe their arguments.
inline constexpr const char* kArgumentInfoOption = "-cl-kernel-arg-info";

// InvalidArgument, naming kernel and argument: another number of arguments; another kind, access or
// scalar type of one, a constant that is not a scalar of 32 or 64 bits in the kernel, a buffer that
// is written by the table and only read by the kernel (if the implementation says so); a workgroup
// larger than the compiled kernel supports, or other than the one it requires; too much local
// memory.
Status check_kernel(const Context& context, cl_kernel kernel, const EntryPoint& entry);

}  // namespace texloom::hal::opencl
