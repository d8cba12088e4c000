// Checks the parameters of an entry point against the compiled kernel, so that OpenCL never gets an
// argument or a workgroup size that it would refuse.
#pragma once

#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The build option that makes kernels describe their arguments.
inline constexpr const char* kArgumentInfoOption = "-cl-kernel-arg-info";

// InvalidArgument, naming the kernel and the argument, for: a different number of arguments; an
// argument of a different kind, access or scalar type (if the implementation describes them); a
// constant that is not a 32-bit or 64-bit scalar in the kernel; a buffer that the entry point
// declares as written and the kernel only reads; a workgroup that is larger than the compiled
// kernel supports, or differs from the one it requires; too much local memory.
Status check_kernel(const Context& context, cl_kernel kernel, const EntryPoint& entry);

}  // namespace texloom::hal::opencl
