// Odd functions in float that approach -1 and 1: tanh and erf, by one quotient of polynomials.
#pragma once

#include "codegen/llvm/plugin/math/real.h"

namespace texloom::codegen::native::math {

// f(x) = 2 s / (1 + s^2), where s = x P(z) / Q(z) and z = x^2, for magnitudes up to `limit`, where
// the function is 1 in float. The coefficients are float32, from the lowest power.
struct Saturating {
  std::span<const double> numerator, denominator;  // P, Q
  double limit;
};

// The function: exactly -1 and 1 beyond the limit, and never outside of them.
//   As s approaches 1, rounding errors of P and Q vanish from the result: its derivative in s is
//   2 (1 - s^2) / (1 + s^2)^2. With a = x P and b = Q, it is 2 a b / (a^2 + b^2), whose divisor is
//   at least the magnitude of its dividend; this is enforced after rounding.
Real saturating(const Saturating& function, Real x);

}  // namespace texloom::codegen::native::math
