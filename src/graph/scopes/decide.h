// Decides on the storages of a graph: the cheapest choice, what of it is worth its memory, and
// folds.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "graph/scopes/choice_problem.h"
#include "graph/scopes/offers.h"

namespace texloom::graph {

struct DecisionOptions {
  StoragePreference storage = StoragePreference::Any;
  ChoiceRules rules = {};
  std::int64_t buffer_alignment = 1;
  bool may_fold = true;
};

struct Decision {
  Offers offers;  // with the folds
  // All offers, except those for tensors in `in_buffers`, and the choice.
  ChoiceProblem problem;
  Choice choice;
  Folds folds = {};
  std::set<TensorId> in_buffers = {};  // an image is not worth its memory for them
  // The share of the cost that textures would save. They were given up, because it is less than
  // ChoiceRules::least_gain.
  std::optional<double> small_gain = {};
};

// Fails like collect_offers() and choice_problem(), and with NoStorageChoice if no choice is within
// the limit of memory, or if none is found there.
Decision decide(const Graph& graph, const DecisionOptions& options, SiteCosts& costs);

}  // namespace texloom::graph
