// Rounding to float16 where OpenCL C has no half values.
#pragma once

#include <string>

#include "codegen/c/prelude.h"

namespace texloom::codegen::opencl {

// The name of the function from `from` (float32 or float64, a scalar or a vector) to the nearest
// float16 value, which it returns as float32. Ties go to even.
std::string round_to_half(Prelude& prelude, ir::Type from);

}  // namespace texloom::codegen::opencl
