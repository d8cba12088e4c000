// The element functions of floating-point numbers, as <cmath> computes them.
#pragma once

#include "ir/expr.h"

namespace texloom::ir {

// The value of a function of one or two arguments; `y` has no meaning for one. `function` is none
// of those of integers alone (Popcount, Clz).
float element_function(Intrinsic function, float x, float y);
double element_function(Intrinsic function, double x, double y);

}  // namespace texloom::ir
