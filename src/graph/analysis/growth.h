// How values grow: whether an element-wise computation may make values so large that float16 makes
// them infinite, although it holds the inputs.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

enum class Growth : std::uint8_t {
  // The values are in a range that does not depend on the inputs, as those of a constant or of
  // tanh, or they are moments that other values are scaled by.
  Scale,
  Linear,  // the values are about as large as the inputs: sums, and products with Scale
  Large,   // products of two Linear values, powers, exponentials
};

// What is known of the elements of a tensor.
struct ValueRange {
  Growth growth = Growth::Linear;
  double least = -std::numeric_limits<double>::infinity();  // no element is less
};

// The ranges of the outputs of an element-wise computation; `inputs` has the range of each input.
//
// The growth of a quotient by values that may come close to 0 is at least that of the divisor,
// since 1 / (x * x) is as large for a small x as x * x for a large one. A divisor that is known to
// stay away from 0 makes nothing larger: 1 / (1 + exp(-x)) is Scale. Quotients of two Large values,
// such as those of a softmax, are Linear.
std::vector<ValueRange> value_ranges(const Computation& computation,
                                     const std::vector<ValueRange>& inputs);

}  // namespace texloom::graph
