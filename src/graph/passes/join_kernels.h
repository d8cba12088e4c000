#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: joins an operator and the contraction that is its only reader, if one kernel for both is
//   estimated to be faster than two: a depthwise convolution, or a scale of channels such as that
//   of squeeze and excitation, with a 1x1 convolution; a product of few rows with another one. The
//   library of kernels decides, because its schedules determine what fits into shared memory. The
//   pass asks the library for each contraction and what computes its inputs, if all shapes are
//   known.
// Requires: stage graph, verified. Depends on the target.
// Ensures: on processors, and without a library, the graph is unchanged. Each joined operator
//   consists of two operators of the pass `fuse` (graph/passes/fuse.h: join).
// Order: after fuse, when operators have their epilogues.
// Example:
//   operator d op="Conv+Relu" pattern=contraction (x, w) -> (d)
//   operator y op="Conv" pattern=contraction (d, v) -> (y)
//   ->
//   operator y op="Conv+Relu+Conv" pattern=contraction (x, w, v) -> (y)
//     members { ... }
void join_kernels(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
