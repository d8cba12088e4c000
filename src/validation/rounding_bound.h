// Bounds how far two computations of one program may differ if they differ only in rounding.
#pragma once

#include <optional>
#include <vector>

#include "lower/lowering.h"
#include "validation/invocation.h"

namespace texloom::validation {

// For each element of each parameter, in row-major order, how far two correct results may differ; 0
// for integers. nullopt if no bound is known: a value that may differ decides a condition or an
// index, or is the operand of a function that is not smooth.
// Runs the computes on the absolute values of the inputs, with differences replaced by sums, so
// that they give P(|x|) instead of P(x) (N. J. Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., 3.1 and 4.2). If all inputs and constants are integers and no magnitude
// reaches 2^p for p bits of mantissa, no operation rounds, whatever the order and contraction: the
// bounds are 0. Otherwise two results differ by at most 2 * g * P(|x|), where g = s / (1 - s), and
// s is the sum of the unit roundoffs of all operations on the way to the element, each in its own
// type: sums in float32 of products of float16 have those of float32. A step of a product of
// fragments has an operation for each product that it adds.
std::optional<std::vector<std::vector<double>>> rounding_bound(const lower::Lowering& lowering,
                                                               const Invocation& call,
                                                               int64_t max_steps);

}  // namespace texloom::validation
