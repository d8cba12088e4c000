#include "codegen/llvm/plugin/math/logarithms.h"

#include <cmath>
#include <limits>

#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"

namespace texloom::codegen::native::math {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// log(x) = exponent * log(2) + f + q, where f is exact and q is about -f^2 / 2.
struct Logarithm {
  Real exponent, f, q;
};

// log(1 + f) - f, for 1 + f in [sqrt(1/2), sqrt(2)].
Real curvature(Real f) {
  if (f.in->is_coarse()) {
    const Real square = f * f;
    return square * multiply_add(f, evaluate(kLogOfF, f), -0.5);
  }
  // log(1 + f) = log((1 + s) / (1 - s)) = 2 s + s R = f - s f + s R, and s f = f^2 / 2 - s f^2 / 2
  const Real s = f / (2.0 + f);
  const Real z = s * s;
  const Real half_square = 0.5 * f * f;
  return s * multiply_add(z, evaluate(kLogOfS, z), half_square) - half_square;
}

Logarithm logarithm(Real x) {
  const Scaled parts = mantissa_and_exponent(x);
  const Real f = parts.mantissa - 1.0;
  return {parts.exponent, f, curvature(f)};
}

// The logarithm to a base, from the logarithms of 2 and of e.
Real to_base(const Logarithm& parts, const Constant& of_2, const Constant& of_e) {
  const Arithmetic& in = *parts.f.in;
  const Pair product = exact_product(parts.f, number(in, of_e.high(in)));
  const Real low = multiply_add(
      parts.q, of_e.high(in),
      multiply_add(parts.f, of_e.low(in), multiply_add(parts.exponent, of_2.low(in), product.low)));
  const Pair sum = exact_sum_ordered(parts.exponent * of_2.high(in), product.high);
  return sum.high + (sum.low + low);
}

Real natural(const Logarithm& parts) {
  const Arithmetic& in = *parts.f.in;
  const Pair sum = exact_sum_ordered(parts.exponent * kLog2Split.high(in), parts.f);
  return sum.high + (sum.low + multiply_add(parts.exponent, kLog2Split.low(in), parts.q));
}

// The value of a logarithm where x is between `zero`, at which it is minus infinity, and infinity.
Real with_special_values(Real x, double zero, Real value) {
  const Real outside = select(x == zero, -kInfinity, select(x < zero, kNan, x));
  return select((x > zero) & (x < kInfinity), value, outside);
}

}  // namespace

Scaled mantissa_and_exponent(Real x) {
  const Arithmetic& in = *x.in;
  const int fraction_bits = in.digits() - 1;
  const Mask is_subnormal = x < std::ldexp(1.0, 1 - in.bias());
  const Real normal = select(is_subnormal, x * std::ldexp(1.0, in.digits()), x);
  // The exponent is that of x / sqrt(1/2).
  const uint64_t least = bits_of(in, std::sqrt(0.5));
  const Bits moved = bits_of(normal) + (bits_of(in, 1) - least);
  const Bits mantissa = (moved & ((uint64_t{1} << fraction_bits) - 1)) + least;
  const double anchor = std::ldexp(1.0, fraction_bits);
  const Real biased = real_of((moved >> fraction_bits) | bits_of(in, anchor));
  const double lacking = anchor + in.bias();
  return {real_of(mantissa), biased - select(is_subnormal, lacking + in.digits(), lacking)};
}

Real log(Real x) { return with_special_values(x, 0, natural(logarithm(x))); }

Real log2(Real x) {
  constexpr Constant kOne = {1, 0, 1, 0};
  return with_special_values(x, 0, to_base(logarithm(x), kOne, kLog2OfE));
}

Real log10(Real x) {
  return with_special_values(x, 0, to_base(logarithm(x), kLog10Of2Split, kInverseLogOf10));
}

Real log1p(Real x) {
  const Arithmetic& in = *x.in;
  const Pair sum = exact_sum(number(in, 1), x);
  Logarithm parts = logarithm(sum.high);
  // What the sum lacks, divided by the mantissa 1 + f.
  const Real lacking = sum.low * power_of_2(-at_most(parts.exponent, in.bias()));
  parts.q = multiply_add(lacking, multiply_add(parts.f, parts.f - 1.0, number(in, 1)), parts.q);
  return select(x == 0, x, with_special_values(x, -1, natural(parts)));
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); log(2 a) for large numbers.
Real asinh(Real x) {
  const Real a = abs(x);
  const Mask is_large = a > 0x1p28;
  const Real square = a * a;
  const Real near = a + square / (1.0 + sqrt(1.0 + square));
  const Real value = log1p(select(is_large, a - 1.0, near));
  return with_sign(value + select(is_large, kLog2.wide, 0.0), x);
}

Real acosh(Real x) {
  const Mask is_large = x > 0x1p28;
  const Real t = x - 1.0;
  const Real value = log1p(select(is_large, t, t + sqrt(multiply_add(t, t, t + t))));
  return select(x < 1, kNan, value + select(is_large, kLog2.wide, 0.0));
}

Real atanh(Real x) {
  const Real a = abs(x);
  return with_sign(0.5 * log1p((a + a) / (1.0 - a)), x);
}

}  // namespace texloom::codegen::native::math
