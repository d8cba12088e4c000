#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: removes nodes on which no output of the graph depends, outputs of other operators that
//   nothing reads, such as the mean of a normalization, and the tensors that are then unused,
//   including constants. Inputs stay, because callers give them. Calls of custom operators stay,
//   because they may have side effects.
// Requires: stage graph, verified.
// Ensures: each node other than a call computes an output of the graph or an input of another node.
//   An unread output stays if one operation computes it together with another output. Operators
//   keep inputs that only a removed output used.
// Order: first, so that no other pass counts dead nodes among the readers of a tensor.
// Example:
//   outputs (y)                                          outputs (y)
//   operator y op="Relu" ... (x) -> (y)         ->       operator y op="Relu" ... (x) -> (y)
//   operator z op="Exp" ... (x) -> (z)
void remove_dead_nodes(Graph& graph);

}  // namespace texloom::graph
