// Barriers between the threads of a block.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: separates the writes and reads of shared buffers that different threads make.
//   Puts a barrier before a statement that reads a shared buffer written since the last barrier, or
//   that writes one read since. The end of one iteration of a loop is compared with the start of
//   the next; a conflict with what stands before the loop gets a barrier in front of the loop.
//   Copies of a buffer that take turns (lower/loops/pipeline_loops.h) are told apart, so that one
//   barrier for each iteration is enough. A statement that reads an element and writes it back, as
//   a reduction does, concerns one thread alone.
// Requires: stage kernels. Scans and externs may have barriers already (insert_nest_barriers).
// Ensures: stage kernels; all threads of a block reach every barrier. Only the statement of an
//   extern may need a barrier where some threads pass and others do not: that fails with
//   BarrierInCondition.
// Order: after split_kernels, which says what a kernel is and which loops are threads.
// Example:
//   A.shared[threadIdx.x] = A[...]                A.shared[threadIdx.x] = A[...]
//   Y[...] = A.shared[0] + A.shared[1]     ->     barrier
//                                                 Y[...] = A.shared[0] + A.shared[1]
void place_barriers(Lowering& lowering);

// The same inside the nests of an extern, or of a step of a scan, at stage loops: for buffers in
// global memory that threads of a block read after others of the block write them, and for all
// buffers that threads overwrite after others. Blocks are not ordered.
ir::Stmt insert_nest_barriers(const ir::Stmt& nests, const ir::Target& target);

// Whether the statement contains a barrier.
bool has_barrier(const ir::Stmt& s);

}  // namespace texloom::lower
