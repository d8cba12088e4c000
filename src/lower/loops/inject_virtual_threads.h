#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: runs virtual threads one after the other inside each statement.
//   A virtual loop moves inwards, around each of the statements that differ between its threads;
//   a statement that is the same for all of them runs once. A local array that the loop encloses
//   and that differs becomes one array for each virtual thread. Fewer than 16 virtual threads
//   become an unrolled loop. This is right because what a virtual thread shares with the others is
//   complete before the next statement begins, as after a barrier.
// Requires: stage loops, with virtual loops of constant extent.
// Ensures: stage loops without virtual loops. Fails with ThreadExtentMismatch.
// Order: after vectorize_loops, so that no loop over virtual threads is inside a vector; before
//   unroll_loops, which puts the copies of a statement next to each other, so that they read a
//   texel once.
// Example:
//   virtual v < 2 {                       buffer.alloca a: local float32[2, 1]
//     buffer.alloca a: local float32[1]   for k < 8 {
//     for k < 8 {                    ->     S[0] = X[k]
//       S[0] = X[k]                         unrolled v < 2 { a[v, 0] = a[v, 0] + S[0] * W[v, k] }
//       a[0] = a[0] + S[0] * W[v, k]      }
//     }
//   }
void inject_virtual_threads(Lowering& lowering);

}  // namespace texloom::lower
