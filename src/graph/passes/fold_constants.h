#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace texloom::graph {

// Purpose: computes operators all of whose inputs are constants, so that no run does. They are
//   interpreted as they are written (graph/evaluate.h).
// Requires: stage graph, verified.
// Ensures: what an operator computed of constants is a constant, unless it is an output of the
//   graph, or takes more than kMostFoldingSteps steps. Operators without inputs stay: a kernel
//   fills memory faster than a package is read. So do constants without values, which occur in
//   texts.
// Order: after fold_scales, which evaluates constants in float64 and so does not want them rounded;
//   before merge_equal_nodes and fuse, which then have fewer nodes to look at.
// Example:
//   constant c: float32[8]                               constant s: float32[8]
//   operator s op="Sqrt" ... (c) -> (s)          ->      operator y op="Mul" ... (x, s) -> (y)
//   operator y op="Mul" ... (x, s) -> (y)
void fold_constants(Graph& graph);

// The interpreter's limit of steps for one operator: a few tenths of a second.
inline constexpr std::int64_t kMostFoldingSteps = 1 << 22;

}  // namespace texloom::graph
