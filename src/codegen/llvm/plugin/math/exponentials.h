// The exponential function as parts, for functions that are made of it.
#pragma once

#include "codegen/llvm/plugin/math/real.h"

namespace texloom::codegen::native::math {

// A positive number 2^k * (1 + high + low), where |high| < 0.35.
struct Exponential {
  Real k, high, low;
};

// exp(high + low), where |low| is at most a rounding error of `high`.
Exponential exponential(Real high, Real low);
// exp2(high + low)
Exponential exponential_of_2(Real high, Real low);
// The number times 2^shift.
Real value_of(const Exponential& e, double shift = 0);

}  // namespace texloom::codegen::native::math
