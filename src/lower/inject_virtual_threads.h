#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Runs virtual threads one after the other inside each statement.
//
// Does: a virtual loop moves inwards, around each of the statements that differ from one of its
// threads to the next; what is the same for all of them runs once. A local array that it encloses
// and that differs becomes one array for each virtual thread. Fewer than 16 threads make an
// unrolled loop.
//
// Stands behind vectorize_loops, so that a loop over virtual threads is never inside a vector, and
// before unroll_loops, which makes neighbours of the copies of a statement: they read a texel
// once.
//
// Before: stage Loops. After: stage Loops without virtual loops. Right because what a virtual
// thread shares with the others is complete before the next statement begins, as behind a barrier.
//
//   virtual v < 2 {                       buffer.alloca a: local float32[2, 1]
//     buffer.alloca a: local float32[1]   for k < 8 {
//     for k < 8 {                    ->     S[0] = X[k]
//       S[0] = X[k]                         unrolled v < 2 { a[v, 0] = a[v, 0] + S[0] * W[v, k] }
//       a[0] = a[0] + S[0] * W[v, k]      }
//     }
//   }
void inject_virtual_threads(Lowering& lowering);

}  // namespace texloom::lower
