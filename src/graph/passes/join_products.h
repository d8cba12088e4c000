#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: joins products of one matrix by several constant matrices, such as the queries, keys and
//   values of attention, to one product, with the biases and factors of columns that follow alike.
//   The original results are columns of the joined one.
// Requires: stage graph, verified, without fused operators. Depends on the target.
// Ensures: only products are joined whose results are multiplied by other results, after moves and
//   element-wise operators, as in attention: its kernels read the columns where they are. On
//   processors, whose kernels do not read columns in place, the graph is unchanged.
// Order: after sink_moves, so that products and biases have matrices; before fuse_attention.
// Example:
//   operator q op="matmul" pattern=contraction (x, wq) -> (q)
//   operator k op="matmul" pattern=contraction (x, wk) -> (k)
//   ->
//   operator q op="matmul" pattern=contraction (x, wq.joined) -> (q.joined)
//   operator q.columns op="slice" pattern=injective (q.joined) -> (q)
//   operator k.columns op="slice" pattern=injective (q.joined) -> (k)
void join_products(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
