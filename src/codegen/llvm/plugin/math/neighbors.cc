#include <cmath>

#include "codegen/llvm/plugin/math/definitions.h"

namespace texloom::codegen::native::math {

namespace {

// Rounds toward zero; NaN becomes 0. Magnitudes are at most 2^(digits - 2).
Real truncated(Real x) {
  const Real a = abs(x);
  const Real near = nearest(a);
  const Real value = near - select(near > a, 1.0, number(*x.in, 0));
  return select(is_nan(x), 0.0, with_sign(value, x));
}

}  // namespace

// Up to three factors, of which only the last one rounds.
Real ldexp(Real x, Real count) {
  const Arithmetic& in = *x.in;
  const double bias = in.bias(), enough = 4 * bias;
  Real k = truncated(at_least(at_most(count, enough), -enough));
  Real value = x;
  for (int step = 0; step < 2; ++step) {
    // A product that is subnormal before the last factor becomes 0 by it.
    const Real part =
        select(k > bias, bias, select(k < 1 - bias, in.digits() + 1 - bias, number(in, 0)));
    value = value * power_of_2(part);
    k = k - part;
  }
  return value * power_of_2(at_least(at_most(k, bias), 1 - bias));
}

Real nextafter(Real x, Real y) {
  const Arithmetic& in = *x.in;
  const Mask is_up = (x < y) ^ (x < 0.0);
  const Real neighbor = select(is_up, real_of(bits_of(x) + 1), real_of(bits_of(x) + ~uint64_t{0}));
  const Real least = with_sign(real_of(bits_of(number(in, 0)) + 1), y);
  const Real value = select(x == 0, least, neighbor);
  return select(is_nan(x) | is_nan(y), x + y, select(x == y, y, value));
}

}  // namespace texloom::codegen::native::math
