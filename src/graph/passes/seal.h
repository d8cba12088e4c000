#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Prepares a verified graph for compilation: removes the members of fused nodes and the tensors
// between members, since alternatives replace them. Fails with BadGraph, at the node, for an
// operator without alternatives.
Graph sealed(Graph graph);

}  // namespace texloom::graph
