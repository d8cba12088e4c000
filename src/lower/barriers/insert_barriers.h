// Inserts barriers between the threads of a block.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: separates the writes and reads of shared buffers that different threads make.
//   Puts a barrier before a statement that reads a shared buffer written since the last barrier, or
//   that writes a shared buffer read since the last barrier. The end of one iteration of a loop is
//   compared with the start of the next; a conflict with an access before the loop gets a barrier
//   in front of the loop. Copies of a buffer that take turns (lower/loops/pipeline_loops.h) are
//   distinguished, so that one barrier per iteration is enough. Asynchronous copies count as stores
//   where they begin. What an AwaitCopies makes counts as accessed just after it, so that a barrier
//   comes before the next access; drop_barriers keeps that barrier. A statement that reads an
//   element and writes it back, as a reduction does, involves only one thread.
// Requires: stage kernels. Scans and externs may have barriers already (insert_nest_barriers).
// Ensures: stage kernels; all threads of a block reach every barrier. Fails with BarrierInCondition
//   if a barrier is needed where only some threads pass, which happens only in the statement of an
//   extern.
// Order: after split_kernels, which makes the kernels and turns loops over tags into threads.
// Example:
//   A.shared[threadIdx.x] = A[...]                A.shared[threadIdx.x] = A[...]
//   Y[...] = A.shared[0] + A.shared[1]     ->     barrier
//                                                 Y[...] = A.shared[0] + A.shared[1]
void place_barriers(Lowering& lowering);

// Inserts barriers in the same way inside the nests of an extern or of a step of a scan, at stage
// loops: for buffers in global memory that threads of a block read after other threads of the block
// write them, and for all buffers that threads overwrite after other threads access them. Does not
// order blocks.
ir::Stmt insert_nest_barriers(const ir::Stmt& nests, const ir::Target& target);

}  // namespace texloom::lower
