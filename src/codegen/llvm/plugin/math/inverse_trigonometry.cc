#include <limits>

#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"

namespace texloom::codegen::native::math {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// asin(|x|) = s + rest for magnitudes up to 1/2, else pi / 2 - 2 (s + rest).
struct Arcsine {
  Mask is_large;
  Real s, rest;
};

Arcsine arcsine(Real x) {
  const Real a = abs(x);
  const Mask is_large = a > 0.5;
  const Real square = select(is_large, 0.5 - 0.5 * a, a * a);
  const Real s = select(is_large, sqrt(square), a);
  Real rest = s * square * evaluate(kAsin, square);
  if (!x.in->is_coarse()) {
    // The root's rounding error is what its square lacks, divided by twice the root.
    const Pair product = exact_product(s, s);
    const Real lacking = ((square - product.high) - product.low) * 0.5 / s;
    rest = rest + select(is_large & (square > 0.0), lacking, 0.0);
  }
  return {is_large, s, rest};
}

// constant - (high + low), where the constant is large.
Real difference(const Arithmetic& in, const Constant& constant, Real high, Real low) {
  const Pair sum = exact_sum_ordered(number(in, constant.high(in)), -high);
  return sum.high + (sum.low + (constant.low(in) - low));
}

// atan(numerator / denominator), which are not negative.
Pair arctangent(Real numerator, Real denominator) {
  const Arithmetic& in = *numerator.in;
  constexpr double kTanOfEighth = 0.4142135623730950, kTanOf3Eighths = 2.414213562373095;
  const Mask is_small = (numerator < denominator * kTanOfEighth) | (numerator == 0);
  const Mask is_large = numerator > denominator * kTanOf3Eighths;
  const Real n =
      select(is_small, numerator, select(is_large, -denominator, numerator - denominator));
  const Real d =
      select(is_small, denominator, select(is_large, numerator, numerator + denominator));
  const auto base = [&](double quarter, double half) {
    return select(is_small, 0.0, select(is_large, half, number(in, quarter)));
  };
  const Real t = n / select(d == 0, 1.0, d);
  const Real square = t * t;
  const Real rest = t * square * evaluate(kAtan, square);
  const Pair sum = exact_sum_ordered(base(kQuarterPi.high(in), kHalfPi.high(in)), t);
  return {sum.high, sum.low + (rest + base(kQuarterPi.low(in), kHalfPi.low(in)))};
}

}  // namespace

Real asin(Real x) {
  const Arcsine a = arcsine(x);
  const Real far = difference(*x.in, kHalfPi, a.s + a.s, a.rest + a.rest);
  return with_sign(select(a.is_large, far, a.s + a.rest), x);
}

Real acos(Real x) {
  const Arcsine a = arcsine(x);
  const Real sum = a.s + a.rest;
  const Real far = select(x < 0.0, difference(*x.in, kPi, a.s + a.s, a.rest + a.rest), sum + sum);
  const Real near = difference(*x.in, kHalfPi, x, with_sign(a.rest, x));
  return select(a.is_large, far, near);
}

Real atan(Real x) {
  const Pair sum = arctangent(abs(x), number(*x.in, 1));
  return with_sign(sum.high + sum.low, x);
}

Real atan2(Real y, Real x) {
  const Arithmetic& in = *x.in;
  const Real a = abs(x), b = abs(y);
  // Sums do not overflow, products do not vanish, and two infinities are equal numbers.
  const Real scale = select((a > 0x1p1000) | (b > 0x1p1000), 0x1p-2,
                            select((a < 0x1p-900) & (b < 0x1p-900), 0x1p100, number(in, 1)));
  const Mask are_infinite = (a == kInfinity) & (b == kInfinity);
  const Pair first =
      arctangent(select(are_infinite, 1.0, b * scale), select(are_infinite, 1.0, a * scale));
  const Real near = first.high + first.low;
  const Real value = select(is_negative(x), difference(in, kPi, first.high, first.low), near);
  return with_sign(value, y);
}

}  // namespace texloom::codegen::native::math
