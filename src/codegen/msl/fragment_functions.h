// Steps of fragments by Metal's matrices of 8 x 8 elements, which SIMD-groups hold.
#pragma once

#include <string>

#include "codegen/c/prelude.h"
#include "ir/stmt.h"

namespace texloom::codegen::msl {

// The matrices of a part, row by row.
inline constexpr int kMatricesOfPart = 4;

// The name of a function template for a step, which the prelude then has:
//   fill: (thread simdgroup_matrix<T, 8, 8>* part, T value)
//   load: (part, source, stride), and (part, source, stride) of a transposed part
//   mma: (sums, left, right)
//   store: (destination, stride, part)
std::string fragment_function(Prelude& prelude, ir::FragmentOp op, bool transposed = false);

}  // namespace texloom::codegen::msl
