// Rewrites the exponents of ldexp for languages that do not define every conversion to integers.
#pragma once

#include "ir/program.h"

namespace texloom::codegen {

// Purpose: limits the second argument of ldexp, a number that is truncated to an integer, to
//   numbers whose conversion is defined. Metal's ldexp takes an integer, and its language leaves
//   open what a conversion of a large number or of NaN gives; in the IR, NaN counts as 0. The
//   limits are so large that results beyond them are infinite or zero anyway.
// Requires: stage legalized.
// Ensures: stage legalized; the second argument of ldexp is between -400 and 400.
// Order: after widen_storage, whose types are final.
// Example:
//   ldexp(x, y)    ->    ldexp(x, select(y == y, max(min(y, 400.0), -400.0), 0.0))
ir::Stmt limit_exponents(const ir::Stmt& body);

}  // namespace texloom::codegen
