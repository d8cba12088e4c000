#include "codegen/llvm/plugin/math/coefficients.h"
#include "codegen/llvm/plugin/math/definitions.h"
#include "codegen/llvm/plugin/math/exponentials.h"
#include "codegen/llvm/plugin/math/saturating.h"

namespace texloom::codegen::native::math {

namespace {

// erfc(a) for numbers that are not negative, by a polynomial for (1 + 2 a) exp(a^2) erfc(a) of
// t = (a - 4) / (a + 4) (Shepherd and Laframboise, 1981).
Real tail(Real a) {
  const Real limited = at_most(a, a.in->is_coarse() ? 10.1 : 28.0);
  const Real t = (limited - 4.0) / (limited + 4.0);
  const Real factor = evaluate(kErfc, t) / multiply_add(limited, 2.0, number(*a.in, 1));
  const Pair square = exact_product(limited, limited);
  const Exponential e = exponential(-square.high, -square.low);
  return scaled(multiply_add(factor, e.high + e.low, factor), e.k);
}

// erf(a) for numbers from 0 to 1.
Real center(Real a) { return multiply_add(a, evaluate(kErf, a * a), a); }

}  // namespace

Real erf(Real x) {
  if (!x.in->is_double()) return saturating(kSaturatingErf, x);
  const Real a = abs(x);
  return with_sign(select(a < 1.0, center(at_most(a, 1)), 1.0 - tail(a)), x);
}

Real erfc(Real x) {
  const Real a = abs(x);
  const Real far = tail(a);
  const Real value = select(x < 0.0, 2.0 - far, far);
  if (x.in->is_coarse()) return value;
  return select(a < 0.5, 1.0 - with_sign(center(at_most(a, 0.5)), x), value);
}

}  // namespace texloom::codegen::native::math
