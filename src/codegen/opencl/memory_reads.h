// Which expressions read memory.
#pragma once

#include "ir/expr.h"

namespace texloom::codegen::opencl {

// Whether the expression loads from this buffer, or has foreign code do that.
bool loads_from(const ir::Expr& e, const ir::Buffer& buffer);

}  // namespace texloom::codegen::opencl
