#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: stores float32 tensors as float16, so that they take half the memory and half the time
//   to move. Operators compute in float32 as before (multiply_halves.h has the exception): their
//   kernels widen elements that they read, and round elements that they write; values between
//   members of a fused operator are not rounded.
//   This is the one place that decides which tensors stay float32:
//   * inputs and outputs of the graph, whose types callers know;
//   * tensors of nodes that are neither operators nor concatenations, because their kernels exist;
//   * tensors that operators convert to integers or read as coordinates (Node::coordinates), and
//     inputs of element-wise operators and moves that compute these: float16 has no odd integers
//     above 2048;
//   * sums over whole axes, and values computed element by element from such sums alone, such as
//     variances and norms: they are small tensors, and float16 would make many of them infinite;
//   * terms of sums that may be much larger than the operators' inputs (graph/analysis/growth.h):
//     squares, products, exponentials. So a normalization that an exporter wrote as single nodes is
//     computed as precisely as the operator;
//   * constants with a number that float16 makes infinite, and those with at most one axis longer
//     than 1, such as biases: they are small.
//   A node of several outputs, such as Split, is looked at output by output.
//   Views have the type of their inputs, and concatenations that of their parts: if one of these
//   tensors stays float32, all stay float32.
// Requires: stage graph, verified, without fused operators.
// Ensures: shapes and roles of tensors are unchanged; no type other than float32 has changed.
// Order: before fuse, which makes kernels of views that change types; after the passes that compute
//   constants, so that constants are rounded once. Runs only with precision="fp16".
// Example:
//   constant w: float32[8, 4, 3, 3]                  constant w: float16[8, 4, 3, 3]
//   constant bias: float32[8]                        constant bias: float32[8]
//   edge c: float32[1, 8, 6, 6]             ->       edge c: float16[1, 8, 6, 6]
//   edge y: float32[1, 8, 6, 6]                      edge y: float32[1, 8, 6, 6]
//   outputs (y)                                      outputs (y)
void store_halves(Graph& graph);

}  // namespace texloom::graph
