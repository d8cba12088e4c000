// Proofs that one value is less than another, by what minima, choices and divisions are made of.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::ir::arith {

// True only if `e < limit`, or `e > limit`, for all values in range. Both of one index type
// (simplify.h). Looks into what prove() takes as a whole: min(k, t - 1) is less than t, as one of
// its operands is; k % t is, as the divisor is no more; of a choice each side has to be, where its
// condition says which is taken.
bool prove_less(const Expr& e, const Expr& limit, const Ranges& ranges);
bool prove_greater(const Expr& e, const Expr& limit, const Ranges& ranges);

}  // namespace texloom::ir::arith
