// All that can be chosen in a graph: the storages of each tensor, and what each node offers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/scopes/choice.h"
#include "graph/scopes/part_places.h"
#include "graph/scopes/site_costs.h"

namespace texloom::graph {

// Which alternatives take part: all, or of each node those with the most textures or the fewest.
enum class StoragePreference : std::uint8_t { Any, Textures, Buffers };

// The fold of a tensor wherever it is in a texture; tensors that are not named are as alternatives
// store them.
using Folds = std::map<TensorId, int64_t>;

// One way to run a node.
struct Offer {
  // The number of the node's alternative; nullopt for a concatenation, and for a view in place.
  std::optional<std::size_t> alternative = {};
  std::vector<std::size_t> storages;  // of its inputs, then of its outputs
  SiteCost cost = {};                 // nothing for what is in place
  // For a concatenation in place, which runs nothing: the places of its inputs in its output. For a
  // view in place: the place of its output in its input.
  std::optional<std::vector<PartPlace>> in_place = {};
};

// The name of its alternative; "in place", or "copy" of a concatenation.
std::string name_of(const Node& node, const Offer& offer);

struct Offers {
  std::vector<std::vector<Stored>> storages;  // by tensor; no two are the same memory
  std::vector<std::vector<Offer>> nodes;      // by node
  // By tensor and its storages, from and to; none of constants.
  std::vector<std::vector<std::vector<SiteCost>>> conversions;
};

// The graph is verified. Fails like stored_as(), and with NoStorageChoice, at a node, if its
// alternatives need a tensor (not a constant) in more than kMaxStorages storages, or if none of
// them can be compiled.
//
// A concatenation offers a storage for each scope that a neighbor uses: in place, which costs
// nothing, where places_in() has places for its parts; else a kernel. A view offers its
// alternatives, and to share the memory of its input (graph/views.h).
Offers collect_offers(const Graph& graph, StoragePreference preference, SiteCosts& costs,
                      int64_t buffer_alignment, const Folds& folds);

}  // namespace texloom::graph
