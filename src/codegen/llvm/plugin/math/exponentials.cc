#include "codegen/llvm/plugin/math/exponentials.h"

#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"
#include "codegen/llvm/plugin/math/saturating.h"

namespace texloom::codegen::native::math {

namespace {

// 2^k * exp(r + low)
Exponential of_remainder(Real k, Real r, Real low) {
  const Pair sum = exact_sum_ordered(r, low);
  const Real square = sum.high * sum.high;
  return {k, sum.high, multiply_add(square, evaluate(kExp, sum.high), sum.low)};
}

// exp(x) - 1 = 2^k * (high + low), and one = 2^-k.
struct Difference {
  Real k, one, high, low;
};

Difference minus_1(Real x) {
  const Arithmetic& in = *x.in;
  const Exponential e = exponential(x, number(in, 0));
  // 1 is negligible beside larger powers.
  const Real one = power_of_2(-at_most(e.k, in.by_type(60.0, 120.0)));
  const Real rest = 1.0 - one;
  const Pair sum = exact_sum_ordered(rest, e.high);
  return {e.k, one, sum.high, sum.low + (e.low + ((1.0 - rest) - one))};
}

// exp(x) for magnitudes below 105, in float: 2^k times a mantissa from 0.7 to 1.42, whose error is
// below 2^-24, which is enough for float32 without a low part.
Real short_exponential(Real x) {
  const Arithmetic& in = *x.in;
  const Integer k = nearest(x, kLog2OfE.high(in));
  const Real r =
      multiply_add(k.value, -kLog2Split.low(in), multiply_add(k.value, -kLog2Split.high(in), x));
  const Real slope = multiply_add(evaluate(kShortExp, r), r, 1);
  return scaled(multiply_add(slope, r, 1), k);
}

}  // namespace

Exponential exponential(Real high, Real low) {
  const Arithmetic& in = *high.in;
  const Real k = nearest(high * kLog2OfE.high(in));
  const Real r = multiply_add(k, -kLog2Split.high(in), high);  // exact
  return of_remainder(k, r, multiply_add(k, -kLog2Split.low(in), low));
}

Exponential exponential_of_2(Real high, Real low) {
  const Arithmetic& in = *high.in;
  const Real k = nearest(high);
  const Real fraction = high - k;
  const Pair r = exact_product(fraction, number(in, kLog2.high(in)));
  return of_remainder(
      k, r.high, multiply_add(low, kLog2.high(in), multiply_add(fraction, kLog2.low(in), r.low)));
}

Real value_of(const Exponential& e, double shift) {
  const Real k = shift == 0 ? e.k : e.k + shift;
  return scaled(1.0 + (e.high + e.low), k);
}

Real exp(Real x) {
  const Arithmetic& in = *x.in;
  const Real y = at_least(at_most(x, in.by_type(89.0, 710.0)), in.by_type(-104.0, -746.0));
  if (!in.is_double()) return short_exponential(y);
  return value_of(exponential(y, number(in, 0)));
}

Real exp2(Real x) {
  const Arithmetic& in = *x.in;
  const Real y = at_least(at_most(x, in.by_type(129.0, 1025.0)), in.by_type(-151.0, -1076.0));
  return value_of(exponential_of_2(y, number(in, 0)));
}

// x = k * log10(2) + remainder
Real exp10(Real x) {
  const Arithmetic& in = *x.in;
  const Real y = at_least(at_most(x, in.by_type(39.0, 309.0)), in.by_type(-46.0, -325.0));
  const Real k = nearest(y * kLog2Of10.high(in));
  const Real remainder = multiply_add(k, -kLog10Of2Split.high(in), y);  // exact
  const Real low = k * -kLog10Of2Split.low(in);
  const Pair r = exact_product(remainder, number(in, kLogOf10.high(in)));
  return value_of(of_remainder(
      k, r.high,
      multiply_add(low, kLogOf10.high(in), multiply_add(remainder, kLogOf10.low(in), r.low))));
}

Real expm1(Real x) {
  const Arithmetic& in = *x.in;
  const Real y = at_least(at_most(x, in.by_type(89.0, 710.0)), in.by_type(-20.0, -40.0));
  const Difference e = minus_1(y);
  return select(x == 0, x, scaled(e.high + e.low, e.k));
}

// h + h / (2 h + 1), where h = (exp(a) - 1) / 2
Real sinh(Real x) {
  const Arithmetic& in = *x.in;
  const Difference e = minus_1(at_most(abs(x), in.by_type(90.0, 711.0)));
  const Real half = scaled(e.high + e.low, e.k - 1.0);
  const Real finite = at_most(half, in.by_type(0x1p100, 0x1p1000));
  return with_sign(half + finite / multiply_add(finite, 2.0, number(in, 1)), x);
}

Real cosh(Real x) {
  const Arithmetic& in = *x.in;
  const Real a = at_most(abs(x), in.by_type(90.0, 711.0));
  const Real half = value_of(exponential(a, number(in, 0)), -1);
  return half + 0.25 / half;
}

// In double: e / (e + 2), where e = exp(2 a) - 1; the quotient is improved by what it lacks.
Real tanh(Real x) {
  if (!x.in->is_double()) return saturating(kTanh, x);
  const Real a = at_most(abs(x), 20);
  const Difference difference = minus_1(a + a);
  const Pair e = exact_sum_ordered(difference.high, difference.low);
  const Pair divisor = exact_sum(e.high, difference.one + difference.one);
  const Real inverse = 1.0 / divisor.high;
  const Real quotient = e.high * inverse;
  const Pair product = exact_product(quotient, divisor.high);
  const Real lacking =
      ((e.high - product.high) - product.low) + (e.low - quotient * (divisor.low + e.low));
  return with_sign(multiply_add(lacking, inverse, quotient), x);
}

}  // namespace texloom::codegen::native::math
