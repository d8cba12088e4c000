// All options of a graph: the possible storages of each tensor, and the offers of each node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/scopes/choice.h"
#include "graph/scopes/part_places.h"
#include "graph/scopes/site_costs.h"

namespace texloom::graph {

// Which alternatives take part: all, or for each node those with the most or the fewest textures.
enum class StoragePreference : std::uint8_t { Any, Textures, Buffers };

// For each folded tensor, the fold (plan/textures/fold.h) of all its textures. Other tensors are
// folded as alternatives store them.
using Folds = std::map<TensorId, int64_t>;

// One way to run a node.
struct Offer {
  // The number of the node's alternative; nullopt for a concatenation, and for a view or a
  // permutation in place.
  std::optional<std::size_t> alternative = {};
  std::vector<std::size_t> storages;  // one for each input, then for each output
  SiteCost cost = {};                 // zero if the node is in place
  // For a concatenation in place, which needs no kernel: the places of its inputs in its output.
  // For a view in place: the place of its output in its input.
  std::optional<std::vector<PartPlace>> in_place = {};
};

// The name of an offer: its alternative's name, "in place", or "copy" for a concatenation.
std::string name_of(const Node& node, const Offer& offer);

struct Offers {
  std::vector<std::vector<Stored>> storages;  // indexed by tensor; all with different layouts
  std::vector<std::vector<Offer>> nodes;      // the offers of each node
  // By tensor, by source storage, and by destination storage. Empty for constants.
  std::vector<std::vector<std::vector<SiteCost>>> conversions;
};

// Requires a verified graph. Fails like stored_as(), and with NoStorageChoice, at a node, if
// alternatives need one of its tensors (not a constant) in more than kMaxStorages storages, or if
// no alternative of the node can be compiled.
//
// A concatenation has an offer for each scope that a neighbor uses. The offer is in place, at no
// cost, if places_in() has places for the parts; else it is a kernel. A view offers its
// alternatives and, if possible, to share the memory of its input (graph/views.h). So does a
// permutation of axes, if neighbors use storages in which the elements are in the same order.
Offers collect_offers(const Graph& graph, StoragePreference preference, SiteCosts& costs,
                      int64_t buffer_alignment, const Folds& folds);

}  // namespace texloom::graph
