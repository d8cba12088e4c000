// Bounds how far two computations of one program may differ if they differ in rounding only.
#pragma once

#include <optional>
#include <vector>

#include "lower/lowering.h"
#include "validation/invocation.h"

namespace texloom::validation {

// For each element of each parameter, in row-major order, how far two correct results may differ; 0
// for integers. Nothing where no bound is known: a value that may differ decides something, or is
// the operand of a function that is not smooth.
//
// The computes are run on the absolute values of the inputs, with sums for differences, so that
// they give P(|x|) where the program gives P(x) (N. J. Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., 3.1 and 4.2). If all inputs and constants are integers and no magnitude
// reaches 2^p for p bits of mantissa, no operation rounds, in whatever order and contraction: the
// bounds are 0. Else two results lie within 2 * g * P(|x|) of one another, g = n u / (1 - n u), for
// n roundings on the way to the element and the unit roundoff u of the narrowest type.
std::optional<std::vector<std::vector<double>>> rounding_bound(const lower::Lowering& lowering,
                                                               const Invocation& call,
                                                               int64_t max_steps);

}  // namespace texloom::validation
