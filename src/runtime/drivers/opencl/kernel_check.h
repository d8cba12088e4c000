// Holds the table of an entry point against the compiled kernel, so that no argument or workgroup
// size that OpenCL would refuse is ever handed to it.
#pragma once

#include "runtime/drivers/opencl/context.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The build option under which kernels describe their arguments.
inline constexpr const char* kArgumentInfoOption = "-cl-kernel-arg-info";

// InvalidArgument, naming kernel and argument: another number of arguments; another kind, access
// or scalar type of one, a constant that is no scalar of 32 or 64 bits in the kernel, a buffer that
// the table has written and the kernel only reads (where the implementation tells); a workgroup
// larger than the compiled kernel can run with, or other than the one that it requires; more local
// memory than there is.
Status check_kernel(const Context& context, cl_kernel kernel, const EntryPoint& entry);

}  // namespace texloom::hal::opencl
