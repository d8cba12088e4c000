#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Replaces unrolled loops by copies of their body.
//
// Does: each unrolled loop of constant extent becomes that many copies; so does a serial loop of
// at most four iterations whose variable picks the lane of a texel, so that lanes are constants
// and the texel is read once. A loop whose copies would hold more than 4,096 stores stays a loop.
//
// Stands before flattening, where lane numbers become constants.
//
// Before: stage Loops. After: stage Loops; what is still marked unrolled is a plain loop.
//
//   unrolled i < 2 { Y[i] = X[i] }   ->   Y[0] = X[0]
//                                         Y[1] = X[1]
void unroll_loops(Lowering& lowering);

}  // namespace texloom::lower
