#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: replaces the operators that exporters write for attention by one operator, if the
//   library of kernels (kernel_library.h) has a kernel for it, so that no matrix of scores is
//   stored in memory. These operators are the product of queries and keys, optionally scaled by a
//   number, optionally plus masks; its softmax, optionally with 0 instead of NaN; and the softmax's
//   product with values. A row of the result whose softmax has NaN is 0 then, even if values are
//   not finite. Conversions in between to float32 and narrower types are left out: the kernel
//   computes in float32. Where kernels read operands in place, so are operators that only move the
//   operands or scale queries and keys, and one that only permutes the axes of the result.
// Requires: stage graph, verified. Depends on the target.
// Ensures: without a library, the graph is unchanged. The output of the last product keeps its
//   name. The other operators are removed unless another node reads their outputs.
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
