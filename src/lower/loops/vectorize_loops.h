#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: replaces vectorized loops by vector expressions.
//   A loop of 2, 4, 8 or 16 iterations becomes its body over a vector of indices; a longer loop is
//   first split into vectors, of four lanes if it writes a texture. A guard that differs by lane
//   becomes the mask of a texture store, whose other lanes are zero. If the target's vector
//   registers are known, a guard that holds for the first lanes of a vector, for a known number of
//   them, encloses shorter vectors. If such a guard encloses any other statement, or if a buffer is
//   allocated inside the loop, the loop runs serially instead, with the warning AnnotationIgnored.
// Requires: stage loops.
// Ensures: stage loops without vectorized loops.
// Order: before flatten_storage: four consecutive lanes of an N-d index are a texel.
// Example:
//   vectorized c < 4 { Y[i, j, c] = X[i, j, c] + 1.0 }
//   -> Y[i, j, ramp(0, 1, 4)] = X[i, j, ramp(0, 1, 4)] + x4(1.0)
void vectorize_loops(Lowering& lowering);

}  // namespace texloom::lower
