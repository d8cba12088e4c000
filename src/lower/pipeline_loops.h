#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Runs the fills of pipelined buffers ahead of the loops whose iterations read them.
//
// Does: gives each such buffer a copy for the iteration that reads it and one for the next, which
// take turns, and fills the first before the loop. A `local` buffer is filled at the start of the
// iteration before. A `shared` one is filled in two steps, so that reading memory overlaps with
// computing: with two stages the iteration before fetches the elements into registers at its start
// and stores them at its end, with three it stores what was fetched before and fetches for the one
// after next. What is fetched behind the last iteration is the last one's again: no branch keeps
// the device's compiler from moving it. The last iteration of an unrolled loop is written out
// without that.
//
// Where such an unrolled loop ends the body of a pipelined loop and reads what that one fills, its
// own first fill runs ahead of the outer loop, too: between the last two of its iterations, so that
// the inner pipeline never runs empty.
//
// double_buffers.h says why `double_buffer` is not the same with two stages.
//
// Stands behind build_loops, which states what fills a buffer, and before loops are unrolled.
//
// Before: stage Loops, with Pipelined. After: stage Loops without. Fails with CannotPipeline.
//
//   for k < 8 {                                    local.alloca next[4]
//     pipelined s stages=2 {                       for i < 4 { s[0, i] = A[0, i] }
//       for i < 4 { s[i] = A[k, i] }               for k < 8 {
//     }                                              for i < 4 { next[i] = A[min(k + 1, 7), i] }
//     c[0] = c[0] + s[0] * s[3]             ->       c[0] = c[0] + s[k % 2, 0] * s[k % 2, 3]
//   }                                                for i < 4 { s[(k + 1) % 2, i] = next[i] }
//                                                  }
void pipeline_loops(Lowering& lowering);

}  // namespace texloom::lower
