// Describes OpenCL C as a dialect.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/target/target.h"

namespace texloom::codegen::opencl {

// OpenCL aligns memory objects, and the sub-buffers for arguments with an offset, to
// CL_DEVICE_MEM_BASE_ADDR_ALIGN, which is at least the size of an int16 vector.
Dialect opencl_dialect(const ir::Target& target);

}  // namespace texloom::codegen::opencl
