// Checks the members of fused operators.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "support/diagnostic.h"

namespace texloom::graph {

// Reports what is wrong with the members of a node: a node that is no operator, members that are
// no operators or have alternatives, members or programs of their own, a member that reads what is
// neither an input of the node nor computed by a member before it, two members that compute one
// tensor, an output that no member computes, an input that no member reads. Returns the tensors
// that members compute for each other.
std::vector<TensorId> check_members(const Graph& graph, const Node& node, DiagnosticSink& sink);

}  // namespace texloom::graph
