// Checks that computations fit the nodes that own them.
#pragma once

#include "graph/graph.h"
#include "support/diagnostic.h"

namespace texloom::graph {

// Reports a computation whose inputs and outputs differ from the node's in number, shape or type; a
// tensor may be stored as float16 though the computation is over float32. Also reports a node that
// claims, unlike its computation, to be a view, to join its inputs, to have a simpler pattern or to
// have fewer coordinates: a text states these claims separately. The node's tensors must exist.
void check_computation(const Graph& graph, const Node& node, DiagnosticSink& sink);

}  // namespace texloom::graph
