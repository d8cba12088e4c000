#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: replaces unrolled loops by copies of their body.
//   Unrolls each loop of constant extent that is marked unrolled, and each serial loop of at most
//   four iterations whose variable selects the lane of a texel, so that lanes are constants and the
//   texel is read once. Keeps a loop whose copies would contain more than 4,096 stores.
// Requires: stage loops.
// Ensures: stage loops. A loop that is still marked unrolled is treated as a serial loop.
// Order: after inject_virtual_threads, which makes unrolled loops; before flatten_storage, which
//   needs constant lane numbers.
// Example:
//   unrolled i < 2 { Y[i] = X[i] }   ->   Y[0] = X[0]
//                                         Y[1] = X[1]
void unroll_loops(Lowering& lowering);

}  // namespace texloom::lower
