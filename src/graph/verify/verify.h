// Checks graphs.
#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Fails with BadGraph, at the node's location if there is one, and lists all mistakes at once:
// repeated names; tensors that do not exist; inputs whose role is not Input; a tensor that is read
// before it is computed, or computed twice; an output or an intermediate tensor that no node
// computes; a node other than an operator without an alternative; an alternative whose arguments
// differ from the node's tensors in type or shape; a call that does not read its inputs and write
// its outputs; a concatenation whose extents do not fit; members that do not compute the outputs of
// their node from its inputs; a view that cannot have the elements of its input.
void verify(const Graph& graph);

}  // namespace texloom::graph
