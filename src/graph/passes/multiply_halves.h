#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: gives attention whose operands are stored as float16 a kernel that multiplies float16,
//   where the target has matrix units for it. Its sums and its softmax are float32, as before;
//   exponentials are rounded to float16 before values are multiplied by them.
// Requires: stage graph, verified, without fused operators. Depends on the target.
// Ensures: only the computations of operators change. Without such kernels for the target, the
//   graph is unchanged.
// Order: after store_halves, which decides on the types; before fuse. Runs only with
//   precision="fp16".
// Example:
//   operator y op="attention" pattern=opaque computation=0 (q, k, v) -> (y)
//   ->
//   operator y op="attention" pattern=opaque computation=1 (q, k, v) -> (y)
void multiply_halves(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
