#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"

namespace texloom::codegen::native::math {

namespace {

// |x| = quadrants * pi / 2 + (high + low), where |high| < 0.79.
struct Angle {
  Bits quadrants;  // its lowest bits
  Real high, low;
};

// Subtracts parts of pi / 2 whose products with the number of quadrants are exact, up to the last
// one (Cody and Waite, 1980).
Angle reduced(Real x) {
  const Arithmetic& in = *x.in;
  const Real a = abs(x);
  constexpr double kAnchor = 0x1.8p52;
  const Real anchored = multiply_add(a, kTwoOverPi, number(in, kAnchor));
  const Real minus = kAnchor - anchored;
  const Bits quadrants = bits_of(anchored);
  if (in.is_coarse()) {
    Real r = a;
    for (const double part : kHalfPiOf22Bits) r = multiply_add(minus, part, r);
    return {quadrants, r, number(in, 0)};
  }
  const auto& [first, second, third, last] = kHalfPiOf32Bits;
  const Pair r = exact_sum(multiply_add(minus, first, a), minus * second);
  const Pair finer = exact_sum(r.high, minus * third);
  const Pair sum = exact_sum_ordered(finer.high, multiply_add(minus, last, r.low + finer.low));
  return {quadrants, sum.high, sum.low};
}

Real sine(const Angle& angle, Real square) {
  const Real r = angle.high;
  const Real rest = r * square * evaluate(kSin, square);
  if (r.in->is_coarse()) return r + rest;
  return r + multiply_add(angle.low, 1.0 - 0.5 * square, rest);
}

Real cosine(const Angle& angle, Real square) {
  const Real half = 0.5 * square;
  const Real rest = square * square * evaluate(kCos, square);
  if (square.in->is_coarse()) return 1.0 - half + rest;
  const Pair sum = exact_sum_ordered(number(*square.in, 1), -half);
  return sum.high + (sum.low + (rest - angle.high * angle.low));
}

}  // namespace

double largest_angle(bool coarse) { return coarse ? 0x1p30 : 0x1p20; }

Real sin(Real x) {
  const Angle angle = reduced(x);
  const Real square = angle.high * angle.high;
  const Real value = select(is_odd(angle.quadrants), cosine(angle, square), sine(angle, square));
  return negative_where(is_odd(angle.quadrants >> 1) ^ is_negative(x), value);
}

Real cos(Real x) {
  const Angle angle = reduced(x);
  const Real square = angle.high * angle.high;
  const Real value = select(is_odd(angle.quadrants), sine(angle, square), cosine(angle, square));
  return negative_where(is_odd((angle.quadrants + 1) >> 1), value);
}

Real tan(Real x) {
  const Angle angle = reduced(x);
  const Real square = angle.high * angle.high;
  const Real s = sine(angle, square), c = cosine(angle, square);
  const Mask is_turned = is_odd(angle.quadrants);
  const Real value = select(is_turned, c, s) / select(is_turned, s, c);
  return negative_where(is_turned ^ is_negative(x), value);
}

}  // namespace texloom::codegen::native::math
