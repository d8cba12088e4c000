// Proves that one value is less than another, by looking into minima, selects and divisions.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::ir::arith {

// True only if `e < limit`, or `e > limit`, for all values in range. `e` and `limit` have the same
// index type (simplify.h). Looks into expressions that prove() treats as a unit: min(k, t - 1) is
// less than t if one of its operands is less than t; k % t is less than its divisor t; for a
// Select, both sides must be proved, each under its condition.
bool prove_less(const Expr& e, const Expr& limit, const Ranges& ranges);
bool prove_greater(const Expr& e, const Expr& limit, const Ranges& ranges);

}  // namespace texloom::ir::arith
