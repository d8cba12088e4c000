// Rounds to float16 without half values in OpenCL C.
#pragma once

#include <string>

#include "codegen/c/prelude.h"

namespace texloom::codegen::opencl {

// Returns the name of a function that rounds `from` (float32 or float64, a scalar or a vector) to
// the nearest float16 value, ties to even, and returns it as float32.
std::string round_to_half(Prelude& prelude, ir::Type from);

}  // namespace texloom::codegen::opencl
