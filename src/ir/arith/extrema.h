// Bounds of sums of minima and maxima.
#pragma once

#include "ir/arith/linear.h"
#include "ir/arith/ranges.h"

namespace texloom::ir::arith {

// The bounds of a sum, extrema resolved: r + c * min(a, b) is min(r + c * a, r + c * b) for c > 0,
// max(...) for c < 0, and what r shares with a or b cancels there. Extrema that stand deeper than
// four inside one another count as their intervals do.
Interval bounds_of_extrema(const LinearSum& sum, const Ranges& ranges);

}  // namespace texloom::ir::arith
