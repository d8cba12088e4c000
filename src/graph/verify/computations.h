// Checks that computations fit the nodes that own them.
#pragma once

#include "graph/graph.h"
#include "support/diagnostic.h"

namespace texloom::graph {

// Reports a computation whose inputs and outputs are not those of the node: other numbers of
// tensors, of axes or of elements along them, or other types; and a node that says it is a view,
// joins its inputs, has a simpler pattern, or has fewer coordinates, unlike its computation: texts
// say these things of their own. A tensor may be stored as float16
// though the computation is over float32. The node's tensors exist.
void check_computation(const Graph& graph, const Node& node, DiagnosticSink& sink);

}  // namespace texloom::graph
