// Runs the threads of a block one after the other.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::native {

// Purpose: makes a kernel of blocks of threads a function that runs a block in one thread.
//   * Statements between two barriers run in loops over the threads of the block. Statements that
//     contain a barrier run once for the whole block: all threads agree on how often, so that the
//     values of the first thread decide.
//   * An array that the threads share becomes one array of the function. An array of a thread that
//     is in use across a barrier becomes an array with a part for each thread.
//   * A value that is used across a barrier is computed again where it is used, or stored in such
//     an array if it reads memory.
// Requires: stage kernels, without shuffles.
// Ensures: stage kernels; blocks of one thread, no thread axes, no barriers, no shared arrays.
//   Definitions may occur several times.
// Order: before unique_definitions.
// Example:
//   axis t = threadIdx.x < 4                       buffer.alloca s: local float32[4]
//   buffer.alloca s: shared float32[4]             for t < 4 { s[t] = x[t] }
//   s[t] = x[t]                              ->    for t < 4 { y[t] = s[3 - t] }
//   barrier
//   y[t] = s[3 - t]
void run_threads_in_loops(ir::Kernel& kernel);

}  // namespace texloom::codegen::native
