#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: folds operators that scale and shift channels into the weights of the preceding
//   operator. Such operators are batch normalizations, and products, quotients, sums and
//   differences with a constant for each channel. The preceding operator computes sums of products
//   with constant weights, such as a convolution; operators in between that only move elements
//   stay. The new weights and the new bias are computed in float64 and rounded once. A convolution
//   without a bias gets one. A product of matrices gets a bias only if its weights change, too: an
//   addition alone is left to the pass `fuse`, which puts it into the product's kernel.
// Requires: stage graph, verified, without dead nodes.
// Ensures: each folded operator was the only reader of the tensor that it scaled. Results differ by
//   rounding. An operator stays if a number would not be finite.
// Order: after remove_dead_nodes, since dead nodes would count as readers; before fold_constants,
//   which would round constants from which factors are computed.
// Example:
//   constant w: float32[8, 4, 3, 3]               constant w: float32[8, 4, 3, 3]
//   constant s: float32[8, 1, 1]                  constant w.bias: float32[8]
//   operator c op="Conv" ... (x, w) -> (c)   ->   operator c op="Conv" ... (x, w, w.bias) -> (y)
//   operator y op="Add" ... (c, s) -> (y)
void fold_scales(Graph& graph);

}  // namespace texloom::graph
