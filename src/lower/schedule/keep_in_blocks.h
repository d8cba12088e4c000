// Stages that a schedule for processors computes inside of loops.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: lets scripts for processors run that say nothing of threads: a stage in global memory
//   that is computed inside the loops of another, as cache_write(C, "global") and compute_at make
//   it, is in the memory of its block. On the target llvm each nest of such a schedule is one
//   kernel, elsewhere each parallel loop; blocks run on different threads, so no two of them may
//   write one array.
// Requires: stage te, attached stages.
// Ensures: stage te. Schedules that bind loops to threads are unchanged and, on other targets than
//   llvm, stages outside of parallel loops.
// Order: before build_nests, which refuses global memory inside of a kernel.
// Example:
//   compute C.global(i, j): ...   ->   compute C.global(i, j): ...
//     scope global                       scope shared
//     compute_at C, no                   compute_at C, no
void keep_in_blocks(Lowering& lowering);

}  // namespace texloom::lower
