// The problem of choosing storages, for the search of graph/scopes/choice.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/scopes/choice.h"
#include "graph/scopes/offers.h"

namespace texloom::graph {

inline constexpr double kLeastGain = 0.03;

// Rules for a choice, in addition to the offers.
struct ChoiceRules {
  // The limit for the bytes of all tensors that are live at a node, including inputs and outputs of
  // the graph. Only for graphs without symbols.
  std::optional<std::uint64_t> max_live_bytes = {};
  // For each node, the name of the offer to choose (name_of() in graph/scopes/offers.h), or "" to
  // leave the choice open. Empty: all choices are open.
  std::vector<std::string> fixed = {};
  // Tensors that must not be in textures, unless a node has no other offer.
  std::set<TensorId> in_buffers = {};
  // If a source gives the costs, textures must save at least this share of the cost. By default it
  // is the share by which measured costs of equal kernels differ.
  double least_gain = kLeastGain;
  // The number of partial choices that the search keeps (graph/scopes/choice.h).
  std::size_t max_partial = kMaxPartialChoices;
};

// Makes the problem of a graph. The first nodes of the problem are the graph's inputs, whose
// options are the storages that the caller may be asked for; the nodes of the graph follow.
// Constants are not part of the problem: they are packed for each storage in which nodes read them.
// An option that breaks a rule has an infinite cost. A rule that would leave a node without options
// does not apply to this node. Fails with NoStorageChoice for a memory limit if the graph has
// symbols.
ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const ChoiceRules& rules);

}  // namespace texloom::graph
