// Replaces element functions that a language lacks.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: replaces a function that the dialect lacks, if one other function or operation gives the
//   same values: native_recip becomes a native division. Dot products become shifts and products.
//   function_definitions.h has the functions of floats that take several operations.
// Requires: stage legalized.
// Ensures: stage legalized; no call of a function that the dialect lacks and that this pass can
//   replace. Calls of other missing functions stay.
// Order: after widen_storage, which decides the types that functions are computed in.
// Example:
//   native_recip(x)    ->    native_divide(1.0, x)
ir::Stmt expand_functions(const ir::Stmt& body, const Dialect& dialect);

}  // namespace texloom::codegen
