// All that can be chosen in a graph: the storages of each tensor, and what each node offers.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "graph/choice.h"
#include "graph/cost_model.h"
#include "graph/part_places.h"

namespace texloom::graph {

// Which alternatives take part: all, or of each node those with the most textures or the fewest.
enum class StoragePreference : std::uint8_t { Any, Textures, Buffers };

// The fold of a tensor wherever it is in a texture; tensors that are not named are as alternatives
// store them.
using Folds = std::map<TensorId, int64_t>;

// One way to run a node.
struct Offer {
  // Of the node's alternatives; nullopt for a concatenation, and for a view in place.
  std::optional<std::size_t> alternative = {};
  std::vector<std::size_t> storages;  // of its inputs, then of its outputs
  double cost = 0;                    // nanoseconds
  // Of a concatenation in place, which runs nothing: where its inputs are in its output. Of a view
  // in place: where its output is in its input.
  std::optional<std::vector<PartPlace>> in_place = {};
};

struct Offers {
  std::vector<std::vector<Stored>> storages;  // by tensor; no two are the same memory
  std::vector<std::vector<Offer>> nodes;      // by node
};

// The graph is verified. Fails like stored_as(), and with BadGraph, at a node, if its alternatives
// want a tensor that is no constant in more than kMaxStorages storages.
//
// A concatenation offers a storage for each scope that a neighbor uses: in place, which costs
// nothing, where its parts are edges of the graph that no other concatenation holds, lie as
// part_places() says and begin at multiples of `buffer_alignment` bytes, and where no node reads
// one of them and writes another (textures), or wants one in an image of its own; else a kernel.
// A view offers its alternatives, and to share the memory of its input (graph/views.h).
Offers collect_offers(const Graph& graph, StoragePreference preference, const CostModel& model,
                      int64_t buffer_alignment, const Folds& folds);

// Whether a fold may be chosen for it: an edge that neither a concatenation nor a custom operator
// touches, and that no alternative wants in an image of exactly its extent.
bool may_fold(const Graph& graph, TensorId tensor);

// The problem of choosing. Its first nodes are the graph's inputs, whose options are the storages
// that the caller may be asked for; then come the nodes of the graph. Constants are no part of it:
// they are packed for each storage in which they are wanted.
ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const CostModel& model);

}  // namespace texloom::graph
