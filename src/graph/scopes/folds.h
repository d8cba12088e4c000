// Folds that save memory: the planner of src/plan proposes them, and their cost is bounded.
#pragma once

#include "graph/scopes/invocations.h"

namespace texloom::graph {

// The share of the chosen cost that folds may add.
inline constexpr double kFoldBudget = 0.02;

// Folds with which the textures of these invocations take fewer texels. The costs that they add to
// the chosen alternatives are at most kFoldBudget of `chosen_cost`. Empty if folding saves nothing.
// Deterministic.
Folds choose_folds(const Graph& graph, const Offers& offers, const Invocations& invocations,
                   double chosen_cost);

}  // namespace texloom::graph
