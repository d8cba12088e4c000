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
  // Bytes of all tensors that are live at a node, inputs and outputs of the graph among them. Only
  // for graphs without symbols.
  std::optional<std::uint64_t> max_live_bytes = {};
  // The offer of each node by its name (name_of() in graph/scopes/offers.h); "" leaves it open.
  // Empty: all are open.
  std::vector<std::string> fixed = {};
  // Tensors that are in no texture, if their nodes can do without.
  std::set<TensorId> in_buffers = {};
  // The share of the cost that textures must save if costs were measured: measured costs of equal
  // kernels differ by this much.
  double least_gain = kLeastGain;
  // The partial choices that the search keeps (graph/scopes/choice.h).
  std::size_t max_partial = kMaxPartialChoices;
};

// Its first nodes are the graph's inputs, whose options are the storages that the caller may be
// asked for; then come the nodes of the graph. Constants are not part of it: they are packed for
// each storage in which nodes read them. An option that breaks a rule has an infinite cost; a rule
// that would leave a node without options does not apply to it. Fails with NoStorageChoice for a
// limit of memory if symbols decide how much there is.
ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const ChoiceRules& rules);

}  // namespace texloom::graph
