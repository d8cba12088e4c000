// The element functions of floating-point numbers, as <cmath> computes them.
#pragma once

#include "ir/expr.h"

namespace texloom::ir {

// The value of a function of one or two arguments; a function of one argument ignores `y`.
// `function` must not take integers only (Popcount, Clz, dot products).
float element_function(Intrinsic function, float x, float y);
double element_function(Intrinsic function, double x, double y);

}  // namespace texloom::ir
