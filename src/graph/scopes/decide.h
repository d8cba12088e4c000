// Decides on the storages of a graph: makes the cheapest choice, drops images that are not worth
// their memory, and chooses folds.
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
  Offers offers;  // the offers with the chosen folds
  // The problem of all offers, except textures for the tensors in `in_buffers`, and its choice.
  ChoiceProblem problem;
  Choice choice;
  Folds folds = {};
  std::set<TensorId> in_buffers = {};  // tensors whose images are not worth their memory
  // The share of the cost that textures would save. Set if textures are not used because this share
  // is less than ChoiceRules::least_gain.
  std::optional<double> small_gain = {};
};

// Fails like collect_offers() and choice_problem(), and with NoStorageChoice if no choice is within
// the memory limit, or if the search finds none.
Decision decide(const Graph& graph, const DecisionOptions& options, SiteCosts& costs);

}  // namespace texloom::graph
