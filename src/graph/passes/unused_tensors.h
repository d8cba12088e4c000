// Removes tensors that a pass leaves behind.
#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Removes the tensors that no node uses and that are no input or output of the graph; the others
// get new numbers, in the same order.
void remove_unused_tensors(Graph& graph);

}  // namespace texloom::graph
