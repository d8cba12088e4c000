#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: makes a kernel of each nest, and a launch plan of the rest.
//   Thread loops become the kernel's axes, one for each tag. A store that threads would repeat,
//   because their axis is not among its loops, is left to the first thread along that axis. Shared
//   buffers move to the top of the kernel. Its parameters, and how it accesses them, are what the
//   body uses, including the variables of the plan's loops.
// Requires: stage flattened, each nest bound to threads.
// Ensures: stage kernels; the plan frees nothing yet. Fails with UnboundStage,
// ThreadExtentMismatch,
//   ScopeTooNarrow, BlockTooLarge, LocalMemoryTooLarge, TooManyArguments or TextureReadWrite.
// Order: after simplify_program, when bodies are final except for what has to know threads
//   (barriers) or stays within one kernel (texels, fma).
// Example:
//   for k < 4 {                                for k < 4 {
//     nest Y {                           ->      launch main_kernel0(X, Y, k) grid=(8, 1, 1) ...
//       thread<blockIdx.x> i < 8 { ...         }
void launch_nests(Lowering& lowering);

// Purpose: frees the plan's temporaries as early as possible.
// Requires: stage kernels; the plan frees nothing.
// Ensures: stage kernels; the plan frees each temporary after the last statement that uses it, and
//   what a loop allocates in that loop.
// Order: after launch_nests, whose kernels tell what each launch uses.
// Example:
//   launch main_kernel0(A, T)         launch main_kernel0(A, T)
//   launch main_kernel1(T, B)   ->    launch main_kernel1(T, B)
//                                     buffer.free T
void free_temporaries(Lowering& lowering);

// Whether each nest of the program, which is at stage flattened, has a loop over threads.
bool is_bound_throughout(const ir::Program& program);

}  // namespace texloom::lower
