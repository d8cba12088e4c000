// Checks the members of fused operators.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "support/diagnostic.h"

namespace texloom::graph {

// Reports mistakes in the members of a node: a node that is not an operator; members that are not
// operators, or have alternatives, members or programs of their own; a member that reads a tensor
// which is neither an input of the node nor computed by an earlier member; two members that compute
// one tensor; an output that no member computes; an input that no member reads. Returns the tensors
// that members compute for each other.
std::vector<TensorId> check_members(const Graph& graph, const Node& node, DiagnosticSink& sink);

}  // namespace texloom::graph
