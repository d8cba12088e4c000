// Replaces element functions that a language lacks.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: computes functions that the dialect lacks by others, with the same values. So far only
//   native_recip has a row: a native division.
// Requires: stage legalized.
// Ensures: stage legalized; no call of a function of the table that the dialect lacks. Calls of
//   other missing functions stay, for the dialect's verifier.
// Order: after widen_storage, whose types are those that the functions are computed in.
// Example:
//   native_recip(x)    ->    native_divide(1.0, x)
ir::Stmt expand_functions(const ir::Stmt& body, const Dialect& dialect);

}  // namespace texloom::codegen
