// Divides fragments among the threads of SIMD-groups where the hardware has none.
#pragma once

#include "ir/program.h"

namespace texloom::codegen {

// Purpose: makes steps of fragments from loops of each thread, in languages without them. A thread
//   has half a row of each part of the sums, the row of the left factor, and the columns of the
//   right one that it multiplies.
// Requires: stage kernels.
// Ensures: stage kernels; no FragmentStep is left, and fragments of steps are private arrays.
// Order: before widen_storage, which chooses the types of arrays.
// Example:
//   fragment.fill(access_ptr(write, F[0], extents=(256)), 0.0)
//     ->   for element < 8 { F[element] = 0.0 }
void distribute_fragments(ir::Kernel& kernel);

}  // namespace texloom::codegen
