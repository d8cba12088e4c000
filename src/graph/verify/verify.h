// Checks graphs.
#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Fails with BadGraph, at the node's location if there is one, for all that is wrong at once:
// repeated names, tensors that do not exist, inputs whose role is another, a tensor that is read
// before it is computed or computed twice, an output or an edge that no node computes, a node that
// is no operator and has no alternative, an alternative whose arguments do not have the types and
// shapes of the node's tensors, a call that does not read its inputs and write its outputs, a
// concatenation whose extents do not fit, members that do not compute the outputs of their node
// from its inputs, a view that cannot have the elements of its input.
void verify(const Graph& graph);

}  // namespace texloom::graph
