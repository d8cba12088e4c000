#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: stores float32 tensors as float16, so that they take half the memory and half the time
//   to move. Operators compute in float32 as before: their kernels widen what they read, and round
//   what they write; what fused operators pass on to each other is not rounded. This is the one
//   place that decides which tensors stay float32:
//   * inputs and outputs of the graph, whose types callers know;
//   * tensors of nodes that are no operators or concatenations, which have kernels of their own;
//   * what operators turn into integers, or read as coordinates (Node::coordinates), and the
//     element-wise operators and moves before these: float16 has no odd integers above 2048;
//   * constants with a number that float16 makes infinite, and those with at most one axis longer
//     than 1, such as biases: they are small.
//   Views have the type of their inputs, and concatenations that of their parts: if one of them
//   stays float32, all do.
// Requires: stage graph, verified, without fused operators.
// Ensures: tensors have the shapes and roles of before; no type but float32 has changed.
// Order: before fuse, which makes kernels of views that change types; after the passes that compute
//   constants, so that these are rounded once. Only precision="fp16" asks for it.
// Example:
//   constant w: float32[8, 4, 3, 3]                  constant w: float16[8, 4, 3, 3]
//   constant bias: float32[8]                        constant bias: float32[8]
//   edge c: float32[1, 8, 6, 6]             ->       edge c: float16[1, 8, 6, 6]
//   edge y: float32[1, 8, 6, 6]                      edge y: float32[1, 8, 6, 6]
//   outputs (y)                                      outputs (y)
void store_halves(Graph& graph);

}  // namespace texloom::graph
