#include "codegen/llvm/plugin/math/saturating.h"

namespace texloom::codegen::native::math {

Real saturating(const Saturating& function, Real x) {
  const Real limited = at_least(at_most(x, function.limit), -function.limit);
  const Real square = limited * limited;
  const Real a = limited * evaluate(function.numerator, square);
  const Real b = evaluate(function.denominator, square);
  const Real dividend = (a + a) * b;
  const Real least = abs(dividend);
  const Real divisor = multiply_add(a, a, b * b);
  return dividend / select(divisor < least, least, divisor);
}

}  // namespace texloom::codegen::native::math
