#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: runs the fills of pipelined buffers ahead of the loops whose iterations read them.
//   Each such buffer gets a copy for the iteration that reads it and one for the next iteration;
//   the copies take turns, and the first one is filled before the loop. A `local` buffer is filled
//   at the start of the iteration before. A `shared` buffer is filled in two steps, so that memory
//   reads overlap with computation: with two stages the iteration before fetches the elements into
//   registers at its start and stores them at its end; with three stages it stores what was fetched
//   before and fetches for the one after next. A fetch past the last iteration fetches the last one
//   again, so that no branch keeps the device's compiler from moving the fetch. The last iteration
//   of an unrolled loop is written out without it.
//   Where such an unrolled loop ends the body of a pipelined loop and reads what that one fills,
//   its own first fill runs ahead of the outer loop, too, between the last two of its iterations:
//   the inner pipeline never runs empty. double_buffers.h says why `double_buffer` differs from two
//   stages.
// Requires: stage loops, with Pipelined statements.
// Ensures: stage loops without Pipelined. Fails with CannotPipeline.
// Order: after build_nests, which states what fills a buffer; before loops are unrolled.
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
