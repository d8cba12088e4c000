// The problem of choosing storages, for the search of graph/scopes/choice.h.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/scopes/choice.h"
#include "graph/scopes/offers.h"

namespace texloom::graph {

// What a choice must keep to, beside the offers.
struct ChoiceRules {
  // Bytes of all tensors that are live at a node, inputs and outputs of the graph among them.
  std::optional<std::uint64_t> max_live_bytes = {};
  // The alternative of each node by its name; "" leaves it open. Empty: all are open.
  std::vector<std::string> fixed = {};
  // Tensors that are in no texture, if their nodes can do without.
  std::set<TensorId> in_buffers = {};
};

// Its first nodes are the graph's inputs, whose options are the storages that the caller may be
// asked for; then come the nodes of the graph. Constants are no part of it: they are packed for
// each storage in which they are wanted. An option that breaks a rule has an infinite cost; a rule
// that leaves a node without options does not hold for it.
ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const ChoiceRules& rules);

}  // namespace texloom::graph
