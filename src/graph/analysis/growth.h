// How values grow: whether an element-wise computation may make values so large that float16 makes
// them infinite, although it holds the inputs.
#pragma once

#include <cstdint>
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

// The growth of the only output of an element-wise computation. `inputs` has the growth of each
// input. Quotients of two Large values, such as those of a softmax, are Linear.
Growth growth_of(const Computation& computation, const std::vector<Growth>& inputs);

}  // namespace texloom::graph
