// A workaround: barriers that keep PoCL's compiler from merging branches into loops with barriers.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// Purpose: adds a barrier after each loop that contains one, where threads may branch apart before
//   the next barrier, for devices that run the threads of a block in turn on one thread of the
//   machine (PoCL's block_stack). LLVM merges a condition after such a loop with the same condition
//   in its last iteration, so that each thread leaves the loop by an edge of its own; PoCL 3.1 then
//   takes all threads of the block along the edge of one, and stores are lost. Nothing is merged
//   across a barrier. All threads reach the barrier, as they reach those inside the loop.
// Requires: stage legalized.
// Ensures: stage legalized.
// Order: after all steps that move or drop barriers.
// Example:
//    for k < 8 {                     for k < 8 {
//    barrier                         barrier
//    if threadIdx.x < 5 {            if threadIdx.x < 5 {
//      c[0] = c[0] + S[k]              c[0] = c[0] + S[k]
//    }                       ->      }
//    }                               }
//    if threadIdx.x < 5 {            barrier
//    Y[threadIdx.x] = c[0]         if threadIdx.x < 5 {
//    }                                 Y[threadIdx.x] = c[0]
//                                  }
ir::Stmt barrier_after_loops(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
