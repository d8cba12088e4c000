#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: refuses programs that access an element of a fragment which is not known before the
//   kernel runs. A fragment stays in registers, which have no addresses
//   (docs/matrix_fragments.md). The error is reported where the scope was chosen, and names the
//   loop that has to be unrolled or vectorized.
// Requires: stage flattened.
// Ensures: stage flattened. The program is the same; indices of fragments are constant, or vectors
//   of constants.
// Order: after simplify_program, which makes constants of the indices in unrolled loops; before
//   split_kernels, since kernels are verified to be so.
// Example:
//   unrolled i < 2 { Y[i] = F[i] }   ->   Y[0] = F[0]
//                                         Y[1] = F[1]
//   for i < 2 { Y[i] = F[i] }        ->   an error
void check_fragments(Lowering& lowering);

}  // namespace texloom::lower
