#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: merges several operators into one, so that a value that only they read stays in
//   registers. An element-wise, broadcast or injective operator takes in the operator that computes
//   one of its inputs, if nothing else reads that tensor, and if either
//   * the other operator only moves elements (pad, transpose, part), or is light, and the operator
//     only moves them: a negation in a concatenation;
//   * both are computed along the same rows: sums of rows, what is computed of the sums, and of the
//     rows with them. So a normalization that is written in parts is one operator, and a sum takes
//     in the element-wise operator before it;
//   * the operator reads the elements at its own indices, so that each element is computed once.
//     This forms chains, and epilogues of one reduction or contraction: bias, activation, residual
//     addition.
//   A fused operator has at most kMostMembers members and kMostTensors inputs and outputs. The
//   fused operator is named after the last member, whose output is written.
// Requires: stage graph, verified.
// Ensures: operators that have members, alternatives or several outputs are unchanged. Views that
//   can share the memory of their inputs are unchanged, too, because they need no kernel, and so
//   are permutations that move the channels of a convolution's image. A tensor with several readers
//   is still computed once. The graph has no cycle: the readers of a fused operator's output came
//   after all its members.
// Order: after all passes that remove readers of tensors; before join_kernels.
// Example:
//   operator c op="Conv" pattern=contraction (x, w) -> (c)
//   operator b op="Add" pattern=broadcast (c, bias) -> (b)
//   operator y op="Relu" pattern=elementwise (b) -> (y)
//   ->
//   operator y op="Conv+Add+Relu" pattern=contraction (x, w, bias) -> (y)
//     members {
//       operator c op="Conv" pattern=contraction (x, w) -> (c)
//       operator b op="Add" pattern=broadcast (c, bias) -> (b)
//       operator y op="Relu" pattern=elementwise (b) -> (y)
//     }
void fuse(Graph& graph);

// Joins a producer and its only reader to one operator, even if both are contractions: a schedule
// may exist that computes both in one kernel. Producer and reader need a pattern other than opaque,
// one output and no alternatives. On success the joined operator takes the place and the name of
// the reader, and the producer is removed. Returns false, with the graph unchanged, for other
// operators, or if the result would exceed the limits below.
bool join(Graph& graph, std::size_t producer, std::size_t reader);

// Limits, because a kernel has as many arguments as its operator has tensors, and its expressions
// grow with the members.
inline constexpr std::size_t kMostMembers = 32;
inline constexpr std::size_t kMostTensors = 16;

}  // namespace texloom::graph
