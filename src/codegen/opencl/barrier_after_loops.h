// Works around PoCL: barriers keep its compiler from merging branches into loops with barriers.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// Purpose: on processors, adds a barrier after each loop that contains a barrier, if threads may
//   diverge before the next barrier. Processors run the threads of a block in turn on one CPU
//   thread. LLVM merges a condition after such a loop with the same condition in its last
//   iteration, so that threads leave the loop by different edges; PoCL 3.1 then makes all threads
//   of the block follow the edge of one thread, and stores are lost. LLVM merges nothing across a
//   barrier. All threads reach the added barrier, as they reach those inside the loop.
// Requires: stage legalized.
// Ensures: stage legalized.
// Order: after all steps that move or drop barriers.
// Example:
//   for k < 8 {                       for k < 8 {
//     barrier                           barrier
//     if threadIdx.x < 5 {              if threadIdx.x < 5 {
//       c[0] = c[0] + S[k]                c[0] = c[0] + S[k]
//     }                        ->       }
//   }                                 }
//   if threadIdx.x < 5 {              barrier
//     Y[threadIdx.x] = c[0]           if threadIdx.x < 5 {
//   }                                   Y[threadIdx.x] = c[0]
//                                     }
ir::Stmt barrier_after_loops(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
