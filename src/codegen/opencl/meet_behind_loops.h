// Barriers that keep a compiler from moving the decisions of single threads into loops they meet
// in.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: puts a barrier behind each loop that holds one, where threads may go different ways
// before the next barrier.
// Why: for devices on which the threads of a block take turns on one thread of the machine (PoCL's
// block_stack). LLVM takes a condition that follows such a loop together with the same condition in
// its last iteration, so that each thread leaves the loop by an edge of its own; PoCL 3.1 then
// takes all threads of the block along the edge of one, and stores are left out. Nothing is taken
// together across a barrier. All threads reach it: they do those inside the loop.
// Why here: behind all that moves or drops barriers.
// Before and after: stage Legalised.
//
//     for k < 8 {                     for k < 8 {
//       barrier                         barrier
//       if threadIdx.x < 5 {            if threadIdx.x < 5 {
//         c[0] = c[0] + S[k]              c[0] = c[0] + S[k]
//       }                       ->      }
//     }                               }
//     if threadIdx.x < 5 {            barrier
//       Y[threadIdx.x] = c[0]         if threadIdx.x < 5 {
//     }                                 Y[threadIdx.x] = c[0]
//                                     }
ir::Stmt meet_behind_loops(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
