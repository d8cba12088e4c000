// Replaces element functions that a language lacks.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: computes functions that the dialect lacks by one operation or function, with the same
//   values: native_recip is a native division. function_definitions.h has the functions that take
//   several operations.
// Requires: stage legalized.
// Ensures: stage legalized; no call of a function of the table that the dialect lacks. Calls of
//   other missing functions stay.
// Order: after widen_storage, which decides the types that functions are computed in.
// Example:
//   native_recip(x)    ->    native_divide(1.0, x)
ir::Stmt expand_functions(const ir::Stmt& body, const Dialect& dialect);

}  // namespace texloom::codegen
