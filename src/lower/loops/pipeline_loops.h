#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: runs the fills of pipelined buffers ahead of the loops whose iterations read them.
//   Each such buffer gets one copy for the iteration that reads it and one for the next iteration;
//   the copies take turns, and the first one is filled before the loop. A `local` buffer is filled
//   at the start of the previous iteration. A `shared` buffer is filled in two steps, so that
//   memory reads overlap with computation: with two stages, the previous iteration fetches the
//   elements into registers at its start and stores them at its end; with three stages, it stores
//   the elements that the iteration before it fetched, and fetches those for two iterations later.
//   By asynchronous copies, a `shared` buffer gets a copy for each iteration in flight. An
//   iteration waits for its group of copies, and begins the group for stages - 1 iterations later.
//   One barrier between the two, which insert_barriers adds, also separates these copies from the
//   reads of the iteration before. The groups of the last iterations are empty. A fetch into
//   registers past the last iteration repeats the last fetch, so that no branch keeps the device's
//   compiler from moving the fetch. The last iteration of an unrolled loop is written out without a
//   fetch. If such an unrolled loop ends the body of a pipelined loop and reads the buffers that
//   the outer loop fills, the inner loop's first fill for the next outer iteration also runs early,
//   between the last two inner iterations: the inner pipeline never runs empty. double_buffers.h
//   explains how `double_buffer` differs from a pipeline of two stages.
// Requires: stage loops, with Pipelined statements.
// Ensures: stage loops without Pipelined. Fails with CannotPipeline.
// Order: after build_nests, which marks the statements that fill a buffer; before loops are
//   unrolled.
// Example:
//   for k < 8 {                                    local.alloca next[4]
//     pipelined s stages=2 {                       for i < 4 { s[0, i] = A[0, i] }
//       for i < 4 { s[i] = A[k, i] }               for k < 8 {
//     }                                              for i < 4 { next[i] = A[min(k + 1, 7), i] }
//     c[0] = c[0] + s[0] * s[3]             ->       c[0] = c[0] + s[k % 2, 0] * s[k % 2, 3]
//   }                                                for i < 4 { s[(k + 1) % 2, i] = next[i] }
//                                                  }
void pipeline_loops(Lowering& lowering);

}  // namespace texloom::lower
