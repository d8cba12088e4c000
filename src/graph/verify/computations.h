// Checks that computations fit the nodes that own them.
#pragma once

#include "graph/graph.h"
#include "support/diagnostic.h"

namespace texloom::graph {

// Reports a computation whose inputs and outputs differ from the node's in number, shape or type; a
// tensor may be stored as float16 though the computation is over float32. Also reports a node whose
// claims contradict its computation, because a text states them separately: that it is a view, that
// it joins its inputs, that its pattern is simpler, or that it has fewer coordinates. The node's
// tensors must exist.
void check_computation(const Graph& graph, const Node& node, DiagnosticSink& sink);

}  // namespace texloom::graph
