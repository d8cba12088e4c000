#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Prepares a verified graph for compilation: its nodes have alternatives, so that the members of
// fused ones, and the tensors between these, no longer matter and are removed. Fails with BadGraph,
// at the node, for an operator without alternatives.
Graph sealed(Graph graph);

}  // namespace texloom::graph
