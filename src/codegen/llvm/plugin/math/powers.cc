#include <limits>

#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"
#include "codegen/llvm/plugin/math/exponentials.h"
#include "codegen/llvm/plugin/math/logarithms.h"

namespace texloom::codegen::native::math {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The product of two pairs, without the product of what is low.
Pair product(Pair a, Pair b) {
  const Pair first = exact_product(a.high, b.high);
  return exact_sum_ordered(first.high, first.low + (a.high * b.low + a.low * b.high));
}

// log2(a) of a positive finite number, with a relative error of 2^-64, as
// log(m) = log((1 + s) / (1 - s)) = s (2 + 2 z / 3 + z^2 T(z)), where s = (m - 1) / (m + 1) and
// z = s^2.
Pair fine_log2(Real a) {
  const Arithmetic& in = *a.in;
  const Scaled parts = mantissa_and_exponent(a);
  const Real f = parts.mantissa - 1.0;
  const Pair divisor = exact_sum_ordered(number(in, 2), f);
  const Real inverse = 1.0 / divisor.high;
  const Real quotient = f * inverse;
  const Pair back = exact_product(quotient, divisor.high);
  const Pair s = {quotient, (((f - back.high) - back.low) - quotient * divisor.low) * inverse};
  const Pair z = product(s, s);
  const Pair two_thirds =
      exact_sum_ordered(number(in, kTwoThirds.wide), z.high * evaluate(kLogOfSTail, z.high));
  const Pair beyond = product(z, {two_thirds.high, two_thirds.low + kTwoThirds.wide_rest});
  const Pair factor = exact_sum_ordered(number(in, 2), beyond.high);
  const Pair natural = product(s, {factor.high, factor.low + beyond.low});
  const Pair fraction =
      product(natural, {number(in, kLog2OfE.wide), number(in, kLog2OfE.wide_rest)});
  const Pair sum = exact_sum_ordered(parts.exponent, fraction.high);
  return exact_sum_ordered(sum.high, sum.low + fraction.low);
}

// The same with a relative error of 2^-50: powers of float32 numbers multiply it by up to 2^8.
Pair coarse_log2(Real a) {
  const Arithmetic fine(a.in->builder(), a.in->type(), false, a.in->processor());
  return {{a.in, log2({&fine, a.value}).value}, number(*a.in, 0)};
}

Mask is_integer(Real a) {
  constexpr double kAnchor = 0x1p52;
  const Real magnitude = abs(a);
  return (!(magnitude < kAnchor)) | ((magnitude + kAnchor) - kAnchor == magnitude);
}

}  // namespace

Real pow(Real x, Real y) {
  const Real a = abs(x);
  const Pair logarithm = x.in->is_coarse() ? coarse_log2(a) : fine_log2(a);
  const Pair exact = exact_product(y, logarithm.high);
  const Mask is_moderate = abs(exact.high) < 1100.0;
  const Real high = select(is_moderate, exact.high, select(exact.high > 0.0, 1100.0, -1100.0));
  const Real low = select(is_moderate, multiply_add(y, logarithm.low, exact.low), 0.0);
  Real value = value_of(exponential_of_2(high, low));
  // The powers of 0 and of infinity are these two; those of 1 are 1.
  const Mask is_zero = a == 0;
  const Mask is_reversed = y < 0.0;
  value = select(is_zero | (a == kInfinity), select(is_zero ^ is_reversed, 0.0, kInfinity), value);
  value = select(a == 1, 1.0, value);
  const Mask is_integral = is_integer(y);
  value = select((x < 0.0) & (a < kInfinity) & !is_integral, kNan, value);
  value = negative_where(is_negative(x) & is_integral & !is_integer(y * 0.5), value);
  value = select(is_nan(x) | is_nan(y), kNan, value);
  return select((y == 0) | (x == 1), 1.0, value);
}

// x = m * 2^(3 q), by an estimate of m^(-1/3) that Halley's iteration improves.
Real cbrt(Real x) {
  const Arithmetic& in = *x.in;
  const Real a = abs(x);
  const Scaled parts = mantissa_and_exponent(a);
  const Real q = nearest(parts.exponent * (1.0 / 3));
  const Real m = parts.mantissa * power_of_2(multiply_add(q, -3.0, parts.exponent));
  Real t = evaluate(kInverseCubeRoot, m);
  for (int step = 0; step < 2; ++step) {
    const Real h = 1.0 - m * t * (t * t);
    t = multiply_add(t * h, multiply_add(h, 2.0 / 9, number(in, 1.0 / 3)), t);
  }
  Real root = m * (t * t);
  if (!in.is_coarse()) {
    const Pair square = exact_product(root, root);
    const Pair cube = exact_product(square.high, root);
    const Real lacking = (m - cube.high) - (cube.low + square.low * root);
    root = multiply_add(lacking * (t * t), 1.0 / 3, root);
  }
  return select((a > 0.0) & (a < kInfinity), with_sign(root * power_of_2(q), x), x);
}

Real hypot(Real x, Real y) {
  const Arithmetic& in = *x.in;
  const Real a = abs(x), b = abs(y);
  const Mask is_infinite = (a == kInfinity) | (b == kInfinity);
  if (in.is_coarse()) return select(is_infinite, kInfinity, sqrt(multiply_add(a, a, b * b)));
  const Real large = select(a < b, b, a), small = select(a < b, a, b);
  // Squares neither overflow nor vanish.
  const auto scale = [&](double up, double down) {
    return select(large > 0x1p500, down, select(large < 0x1p-450, up, number(in, 1)));
  };
  const Real factor = scale(0x1p600, 0x1p-600);
  const Real l = large * factor, s = small * factor;
  const Pair first = exact_product(l, l), second = exact_product(s, s);
  const Pair sum = exact_sum_ordered(first.high, second.high);
  const Real root = sqrt(sum.high);
  const Pair square = exact_product(root, root);
  const Real lacking = ((sum.high - square.high) - square.low) + (sum.low + first.low + second.low);
  const Real length = (root + lacking * 0.5 / root) * scale(0x1p-600, 0x1p600);
  return select(is_infinite, kInfinity, select((large == 0) & (small == 0), 0.0, length));
}

}  // namespace texloom::codegen::native::math
