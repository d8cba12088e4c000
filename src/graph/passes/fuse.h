#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: makes one operator of several, so that a value that only they read stays in registers.
//   An element-wise, broadcast or injective operator takes in the operator that computes one of its
//   inputs, if nothing else reads that tensor, and if either
//   * it reads the elements at its own indices: so each is computed once. That makes chains, and
//     epilogues of one reduction or contraction: bias, activation, residual addition;
//   * the other operator only moves elements (injective: pad, transpose, slice).
//   A fused operator has at most kMostMembers members and kMostTensors inputs and outputs. It is
//   named after the last member, the one whose output is written.
// Requires: stage graph, verified.
// Ensures: operators that have members, alternatives or several outputs are as before, and so are
//   views that can share the memory of their inputs, because these take no kernel. A tensor
//   that others may read is computed once, as before. The graph has no cycle: what reads the one
//   output of a fused operator came after all its members.
// Order: last, when a tensor has as few readers as it can have.
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

// Makes one operator of two, the second of which alone reads what the first computes. Both have a
// pattern other than opaque, one output and no alternatives. False if they are not such operators,
// or if the one would exceed the limits below; then the graph is as before. Else the operator takes
// the place and the name of the reader, and the producer is removed. For pairs of which one kernel
// computes both, though both are contractions: whoever schedules the graph knows them.
bool join(Graph& graph, std::size_t producer, std::size_t reader);

// A kernel has as many arguments as its operator has tensors, and its expressions grow with the
// members.
inline constexpr std::size_t kMostMembers = 32;
inline constexpr std::size_t kMostTensors = 16;

}  // namespace texloom::graph
