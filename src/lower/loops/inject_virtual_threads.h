#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: runs virtual threads one after the other inside each statement.
//   A virtual loop moves inwards, around each statement that differs between its threads; a
//   statement that is the same for all of them runs once. A local array inside the loop that
//   differs between virtual threads becomes one array per virtual thread. If all virtual threads
//   store the same element of shared memory, only the first one stores it, since all have the same
//   value. Fewer than 16 virtual threads become an unrolled loop. This is correct because each
//   statement completes for all virtual threads before the next one begins, as if separated by a
//   barrier.
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
