// Moves guards out of loops that do not change them.
#pragma once

#include "ir/stmt.h"

namespace texloom::codegen::native {

// Purpose: moves a guard that is the whole body of a loop out of the loop, if the loop does not
//   change the guard. A thread whose results are beyond the end of a tensor then skips its loops;
//   on a GPU such a thread waits for its neighbors anyway, but here all threads of a block run one
//   after the other. Without guards, LLVM also makes vectors without masks of the loops.
// Requires: stage kernels.
// Ensures: stage kernels. Guards that read memory stay, since the loop may change that memory.
// Order: before run_threads_in_loops, whose loops no guard of a thread can leave; before
//   join_guards, which puts loops with equal guards under one guard.
// Example:
//   for k < 8 {                                          if t < n {
//     if t < n && k < m { s[0] = s[0] + x[k] }    ->       for k < 8 {
//   }                                                        if k < m { s[0] = s[0] + x[k] }
//                                                          }
//                                                        }
ir::Stmt hoist_guards(const ir::Stmt& body);

}  // namespace texloom::codegen::native
