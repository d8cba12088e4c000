#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: lets operators that only move elements (transposes, parts, concatenations) read what
//   such an operator before them reads, so that a chain of moves, like the roll of a window or a
//   shuffle of channels, is one kernel for each result. Views in between are moves, too. A move is
//   composed with all its readers or with none: it is no kernel afterwards.
// Requires: stage graph, verified, without fused operators.
// Ensures: a composed operator reads at most kMostSources tensors. A concatenation takes in a move
//   only if it is no kernel afterwards, either: else its parts may be written in place. Moves that
//   need no kernel, because they can share memory, are unchanged.
// Order: after fuse_attention, which looks at moves one by one, and merge_equal_nodes; before
//   join_in_place, which decides for the concatenations that are left.
// Example:
//   operator c op="Concat" pattern=injective joins=1 (a, b) -> (c)
//   operator s op="Slice" pattern=injective (c) -> (s)
//   operator t op="Slice" pattern=injective (c) -> (t)
//   ->
//   operator s op="Concat+Slice" pattern=injective (a, b) -> (s)
//   operator t op="Concat+Slice" pattern=injective (a, b) -> (t)
void compose_moves(Graph& graph);

inline constexpr std::size_t kMostSources = 4;

}  // namespace texloom::graph
