#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: removes nodes that compute nothing that an output of the graph depends on, and the
//   tensors that are then unused, constants among them. Inputs stay, because callers give them; so
//   do calls of custom operators, which may do more than they write.
// Requires: stage graph, verified.
// Ensures: each node that is no call computes an output, or what another node reads.
// Order: first, so that no other pass counts dead nodes among the readers of a tensor.
// Example:
//   outputs (y)                                          outputs (y)
//   operator y op="Relu" ... (x) -> (y)         ->       operator y op="Relu" ... (x) -> (y)
//   operator z op="Exp" ... (x) -> (z)
void remove_dead_nodes(Graph& graph);

}  // namespace texloom::graph
