// Composes the computations of fused operators, and adapts computations to narrower stored types.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace texloom::graph {

// The computation of a fused operator: placeholders of a member are replaced by the outputs of the
// members before it. Null if a member has no computation.
SharedComputation composed(const Graph& graph, const Node& fused);

// The computation with inputs and outputs of these types: inputs are widened first, and outputs are
// rounded last; or, in a statement that only loads and stores them, where they are loaded and
// stored.
SharedComputation with_types(SharedComputation computation, const std::vector<ir::Type>& inputs,
                             const std::vector<ir::Type>& outputs);

// The node's computation, over tensors of the types in which the graph stores them. Null if the
// node has no computation.
SharedComputation computation_as_stored(const Graph& graph, const Node& node);

}  // namespace texloom::graph
