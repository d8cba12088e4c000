#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Separates the threads' writes and reads of shared buffers.
//
// Does: puts a barrier before a statement that reads a shared buffer written since the last
// barrier, or that writes one read since. The end of one iteration of a loop is held against
// the start of the next; what stands before the loop is met by a barrier
// in front of it. Copies of a buffer that take turns (lower/pipeline_loops.h) are told apart, so
// that one barrier an iteration is enough. Reading an element and writing it back in one
// statement, as a reduction does, is one thread's own business.
//
// Stands behind split_kernels, which says what a kernel is.
//
// Before: stage Kernels without barriers. After: stage Kernels; all threads of a block
// reach every barrier. Only what an extern's statement does may want one where some threads pass
// and others do not: that is refused, with BarrierInCondition.
//
//   A.shared[threadIdx.x] = A[...]                A.shared[threadIdx.x] = A[...]
//   Y[...] = A.shared[0] + A.shared[1]     ->     barrier
//                                                 Y[...] = A.shared[0] + A.shared[1]
void insert_barriers(Lowering& lowering);

// The same inside the nests of an extern, or of a step of a scan, at stage Loops: for buffers in
// global memory, of which threads of a block may read what others of it write, and for all buffers
// of which they may write what others wrote. Between blocks nothing is put in order.
ir::Stmt separate_threads(const ir::Stmt& nests, const ir::Target& target);

// Whether one stands in the statement.
bool has_barrier(const ir::Stmt& s);

}  // namespace texloom::lower
