#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: computes at compile time, instead of at each run, operators all of whose inputs are
//   constants. The operators are interpreted as they are written (graph/evaluate.h).
// Requires: stage graph, verified.
// Ensures: an output of an operator all of whose inputs are constants is a constant, unless it is
//   an output of the graph, or takes more than kMostFoldingSteps steps. Operators without inputs
//   stay: a kernel fills memory faster than a package is read. Operators of constants without
//   values, which occur in texts, stay, too.
// Order: after fold_scales, which evaluates constants in float64 and needs them unrounded; before
//   merge_equal_nodes and fuse, which then visit fewer nodes.
// Example:
//   constant c: float32[8]                               constant s: float32[8]
//   operator s op="Sqrt" ... (c) -> (s)          ->      operator y op="Mul" ... (x, s) -> (y)
//   operator y op="Mul" ... (x, s) -> (y)
void fold_constants(Graph& graph);

// The interpreter's limit of steps for one operator (graph/evaluate.h).
inline constexpr std::int64_t kMostFoldingSteps = 1 << 22;

}  // namespace texloom::graph
