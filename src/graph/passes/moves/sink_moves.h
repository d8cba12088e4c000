#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: computes element-wise operators before views and permutations of axes instead of after
//   them, so that they become epilogues of what computes the elements: the bias and the residual of
//   a product of matrices whose result gets another shape, or the scale of channels after a product
//   whose result becomes an image. The other operands of the element-wise operator are moved the
//   other way round: constants when the graph is compiled, other tensors by views, and by
//   permutations that move the channels of images, which need no kernel where images have channels
//   last. Where the library of kernels says so, a normalization of groups of channels that
//   exporters write as one of rows of a view is computed before the view, too, and products of
//   several matrices by one matrix have all rows in one matrix, which is a view. A move that
//   undoes the one before it is left out, and moves that keep the order of the elements together
//   are one view. A permutation of rows that are viewed as an image, or of an image that is viewed
//   as rows, becomes one of the image, which needs no kernel beside a convolution.
// Requires: stage graph, verified, without fused operators. Depends on the target.
// Ensures: an element-wise operator whose expressions are at its own indices reads the input of a
//   view of what an operator computes. A view of its result follows, which keeps the result's name.
//   No operator moves if its result is an output of the graph, unless it becomes an epilogue.
// Order: before the passes that look for products and what follows them.
// Example:
//   operator c op="Gemm" pattern=contraction (x, w) -> (c)
//   operator v op="Reshape" pattern=injective view (c) -> (v)
//   operator y op="Relu" pattern=elementwise (v) -> (y)
//   ->
//   operator c op="Gemm" pattern=contraction (x, w) -> (c)
//   operator y op="Relu" pattern=elementwise (c) -> (y.before)
//   operator v op="Reshape" pattern=injective view (y.before) -> (y)
void sink_moves(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
