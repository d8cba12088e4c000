#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: among operators that agree in op, attributes, computation and inputs, keeps the first;
//   readers of the other operators then read the outputs of the first. An operator that writes an
//   output of the graph stays. Opaque operators are merged, too: equal operators compute equal
//   values. Equal constants are merged before, such as the weights of a loop that was unrolled:
//   they are packed once, and stay in the cache. A view that makes again a shape from before other
//   views is merged with the tensor that had it.
// Requires: stage graph, verified, without fused operators.
// Ensures: no two operators compute the same tensor, except for outputs of the graph, and none
//   read two equal constants.
// Order: before fuse, which needs to know how many readers a tensor has, and after
//   remove_dead_nodes, so that less is compared.
// Example:
//   operator a op="Exp" ... (x) -> (a)                   operator a op="Exp" ... (x) -> (a)
//   operator b op="Exp" ... (x) -> (b)          ->
//   operator y op="Mul" ... (a, b) -> (y)                operator y op="Mul" ... (a, a) -> (y)
void merge_equal_nodes(Graph& graph);

}  // namespace texloom::graph
