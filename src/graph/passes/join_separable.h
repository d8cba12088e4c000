#pragma once

#include "graph/graph.h"
#include "graph/passes/kernel_library.h"

namespace texloom::graph {

// Purpose: makes one operator of a depthwise convolution and the convolution of its pixels that
//   alone reads it, where one kernel for both is estimated to be faster than two. The library of
//   kernels, whose schedules know what fits into shared memory, decides; the pass asks it for each
//   pair of contractions of known shapes.
// Requires: stage graph, verified. Depends on the target.
// Ensures: on processors, and without a library, the graph is as before. Each joined operator was
//   two, which `fuse` made (graph/passes/fuse.h: join).
// Order: last, when operators have their epilogues.
// Example:
//   operator d op="Conv+Relu" pattern=contraction (x, w) -> (d)
//   operator y op="Conv" pattern=contraction (d, v) -> (y)
//   ->
//   operator y op="Conv+Relu+Conv" pattern=contraction (x, w, v) -> (y)
//     members { ... }
void join_separable(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
