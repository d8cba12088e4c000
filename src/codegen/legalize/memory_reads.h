// Finds expressions that read memory.
#pragma once

#include "ir/expr.h"

namespace texloom::codegen {

// Whether the expression loads from this buffer, or passes foreign code a pointer to it.
bool loads_from(const ir::Expr& e, const ir::Buffer& buffer);

}  // namespace texloom::codegen
