#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: lets normalizations of groups of channels combine their means and variances from those
// of
//   parts of the groups, where groups are so few and large that several blocks of a GPU should
//   share each. Mean and variance then take one kernel, and what combines them is in the kernel of
//   the elements; else each of the sums takes two.
// Requires: stage graph, verified, without fused operators. Depends on the target.
// Ensures: only the computations of operators change: they store the moments of parts in a stage of
//   their own. Results are the same except for rounding.
//   Without such kernels for the target, the graph is unchanged.
// Order: after sink_moves, by which a normalization of rows that are a view of an image becomes one
//   of groups of channels; before fuse.
// Example:
//   operator y op="GroupNormalization" pattern=reduction computation=0 (x, scale, bias) -> (y)
//   ->
//   operator y op="GroupNormalization" pattern=reduction computation=1 (x, scale, bias) -> (y)
void divide_moments(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
