#include <cmath>

#include "codegen/llvm/plugin/math/definitions.h"

namespace texloom::codegen::native::math {

namespace {

// Magnitudes from here on are integers.
double first_integer(const Arithmetic& in) { return std::ldexp(1.0, in.digits() - 1); }

// The nearest integer of a magnitude; ties to even.
Real nearest_magnitude(Real a) {
  const double anchor = first_integer(*a.in);
  return select(a < anchor, (a + anchor) - anchor, a);
}

// A magnitude without its fraction.
Real whole(Real a) {
  const Real near = nearest_magnitude(a);
  return near - select(near > a, 1.0, number(*a.in, 0));
}

}  // namespace

Real nearbyint(Real x) { return with_sign(nearest_magnitude(abs(x)), x); }

Real trunc(Real x) { return with_sign(whole(abs(x)), x); }

Real floor(Real x) {
  const Real near = nearbyint(x);
  return with_sign(near - select(near > x, 1.0, number(*x.in, 0)), x);
}

Real ceil(Real x) { return -floor(-x); }

Real round(Real x) {
  const Real a = abs(x);
  const Real down = whole(a);
  return with_sign(down + select(a - down < 0.5, 0.0, number(*x.in, 1)), x);
}

// In double: the product of floats is exact. The sum is rounded to odd, so that rounding it to a
// float gives what one rounding would give (Boldo and Melquiond, 2008).
Real fused(Real a, Real b, Real c) {
  const Pair sum = exact_sum(a * b, c);
  const Bits bits = bits_of(sum.high);
  const Mask is_even = !is_odd(bits);
  // Bits count magnitudes.
  const Mask is_outward = is_negative(sum.low) ^ !is_negative(sum.high);
  const Real odd = select(is_outward, real_of(bits + 1), real_of(bits + ~uint64_t{0}));
  const Mask is_inexact = (sum.low < 0.0) | (sum.low > 0.0);
  return select(is_even & is_inexact, odd, sum.high);
}

}  // namespace texloom::codegen::native::math
