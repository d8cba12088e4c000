// Floating-point numbers as mantissa and exponent.
#pragma once

#include "codegen/llvm/plugin/math/real.h"

namespace texloom::codegen::native::math {

// mantissa * 2^exponent, with the mantissa in [sqrt(1/2), sqrt(2)].
struct Scaled {
  Real mantissa, exponent;
};

// The parts of a positive finite number.
Scaled mantissa_and_exponent(Real x);

}  // namespace texloom::codegen::native::math
