#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Makes a kernel of each nest, and a launch plan of the rest.
//
// Does: thread loops become the kernel's axes, one for each tag; a store that threads would
// repeat, because their axis is not among its loops, is left to the first thread along that
// axis; shared buffers move to the kernel's top; parameters and their access are what the body
// uses, variables of the plan's loops among them. Temporaries are freed in the plan after the last
// statement that uses them; what a loop allocates, in that loop.
//
// Stands when bodies are final but for what needs to know threads (barriers) or is local to a
// kernel (texels, fma).
//
// Before: stage Flattened. After: stage Kernels. Fails with UnboundStage, ThreadExtentMismatch,
// ScopeTooNarrow, BlockTooLarge, LocalMemoryTooLarge, TooManyArguments, TextureReadWrite.
//
//   for k < 4 {                                for k < 4 {
//     nest Y {                           ->      launch main_kernel0(X, Y, k) grid=(8, 1, 1) ...
//       thread<blockIdx.x> i < 8 { ...         }
void split_kernels(Lowering& lowering);

// Whether each nest of the program, which is at stage Flattened, has a loop over threads.
bool is_bound_throughout(const ir::Program& program);

}  // namespace texloom::lower
