// The definitions of math functions by arithmetic. They have C99's results for NaN, infinities,
// zeros and subnormal numbers. docs/math_functions.md states their error bounds.
#pragma once

#include "codegen/llvm/plugin/math/real.h"

namespace texloom::codegen::native::math {

// exponentials.cc
Real exp(Real x);
Real exp2(Real x);
Real exp10(Real x);
Real expm1(Real x);
Real sinh(Real x);
Real cosh(Real x);
Real tanh(Real x);

// logarithms.cc
Real log(Real x);
Real log2(Real x);
Real log10(Real x);
Real log1p(Real x);
Real asinh(Real x);
Real acosh(Real x);
Real atanh(Real x);

// trigonometry.cc: in double alone, for magnitudes up to largest_angle().
double largest_angle(bool coarse);
Real sin(Real x);
Real cos(Real x);
Real tan(Real x);

// inverse_trigonometry.cc
Real asin(Real x);
Real acos(Real x);
Real atan(Real x);
Real atan2(Real y, Real x);

// error_functions.cc
Real erf(Real x);
Real erfc(Real x);

// powers.cc: in double alone.
Real pow(Real x, Real y);
Real cbrt(Real x);
Real hypot(Real x, Real y);

// roundings.cc: exact. For processors that have no instructions for them.
Real nearbyint(Real x);
Real trunc(Real x);
Real floor(Real x);
Real ceil(Real x);
Real round(Real x);
// a * b + c with one rounding to float, of floats in double.
Real fused(Real a, Real b, Real c);

// neighbors.cc: exact.
Real ldexp(Real x, Real count);
Real nextafter(Real x, Real y);

}  // namespace texloom::codegen::native::math
