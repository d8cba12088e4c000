// Renumbers the tensors of a graph after a pass.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace texloom::graph {

// Removes tensors that no node uses and that are not inputs or outputs of the graph. The remaining
// tensors get new numbers, in the same order.
void remove_unused_tensors(Graph& graph);

// Numbers the tensors by their positions in `order`. Removes the tensors that `order` leaves out,
// which no node may use.
void order_tensors(Graph& graph, const std::vector<TensorId>& order);

}  // namespace texloom::graph
