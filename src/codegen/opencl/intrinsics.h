// Names element functions in OpenCL C.
#pragma once

#include <string_view>

#include "ir/expr.h"

namespace texloom::codegen::opencl {

// "rint" for nearbyint, "fabs" for abs, ...
std::string_view function_name(ir::Intrinsic function);

}  // namespace texloom::codegen::opencl
