// Bounds of sums of minima and maxima.
#pragma once

#include "ir/arith/linear.h"
#include "ir/arith/ranges.h"

namespace texloom::ir::arith {

// The bounds of a sum, with extrema resolved: r + c * min(a, b) is min(r + c * a, r + c * b) if c
// is positive, else max(...), where terms that occur in r and in a or b cancel. Extrema nested more
// than four deep only contribute their intervals.
Interval bounds_of_extrema(const LinearSum& sum, const Ranges& ranges);

}  // namespace texloom::ir::arith
