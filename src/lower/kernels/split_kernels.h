#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: turns each nest into a kernel and the rest into a launch plan.
//   Thread loops become the kernel's axes, one for each tag. A store outside the loops over an axis
//   would be repeated by all threads along the axis; instead, only the first of these threads makes
//   the store. Shared buffers move to the top of the kernel. The kernel's parameters are the
//   buffers and variables that its body uses, including the variables of the plan's loops.
// Requires: stage flattened, each nest bound to threads.
// Ensures: stage kernels; the plan frees nothing yet. Fails with UnboundStage,
//   ThreadExtentMismatch, ScopeTooNarrow, BlockTooLarge, LocalMemoryTooLarge, TooManyArguments or
//   TextureReadWrite.
// Order: after simplify_program, when bodies are final except for steps that need threads
//   (barriers) or stay within one kernel (texels, fma).
// Example:
//   for k < 4 {                                for k < 4 {
//     nest Y {                           ->      launch main_kernel0(X, Y, k) grid=(8, 1, 1) ...
//       thread<blockIdx.x> i < 8 { ...         }
void launch_nests(Lowering& lowering);

// Purpose: frees the plan's temporaries as early as possible.
// Requires: stage kernels; the plan frees nothing.
// Ensures: stage kernels; the plan frees each temporary after the last statement that uses it,
//   inside the loop that allocates it, if any.
// Order: after launch_nests, whose kernels show what each launch uses.
// Example:
//   launch main_kernel0(A, T)         launch main_kernel0(A, T)
//   launch main_kernel1(T, B)   ->    launch main_kernel1(T, B)
//                                     buffer.free T
void free_temporaries(Lowering& lowering);

// Whether each nest of the program, which is at stage flattened, has a loop over threads, or a
// parallel loop.
bool is_bound_throughout(const ir::Program& program);

}  // namespace texloom::lower
