#pragma once

#include "graph/graph.h"
#include "graph/passes/kernel_library.h"

namespace texloom::graph {

// Purpose: makes one operator of the operators as which exporters write attention, where the
//   library has a kernel for it: products of queries and keys, perhaps scaled by a number, perhaps
//   plus a mask, their softmax, and its product with values. So no matrix of scores is in memory.
//   Conversions in between to float32 and narrower types are left out: the kernel computes in
//   float32.
// Requires: stage graph, verified. Depends on the target.
// Ensures: without a library, the graph is as before. What the last product computed has the same
//   name. The other operators are gone unless something else reads what they compute.
// Order: before fold_scales, which would move the scale into weights; before store_halves, after
//   which the types between the operators differ.
// Example:
//   operator s op="matmul" pattern=contraction (q, k) -> (s)
//   operator w op="softmax" pattern=reduction (s) -> (w)
//   operator y op="matmul" pattern=contraction (w, v) -> (y)
//   ->
//   operator y op="attention" pattern=opaque (q, k, v) -> (y)
void fuse_attention(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
