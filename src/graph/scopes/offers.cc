#include "graph/scopes/offers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "graph/analysis/movement.h"
#include "graph/scopes/in_place.h"
#include "graph/scopes/planes.h"
#include "graph/views.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

class Collection {
 public:
  Collection(const Graph& graph, StoragePreference preference, SiteCosts& costs,
             int64_t buffer_alignment, const Folds& folds)
      : graph_(graph),
        preference_(preference),
        costs_(costs),
        buffer_alignment_(buffer_alignment),
        folds_(folds) {
    offers_.storages.resize(graph.tensors.size());
    offers_.nodes.resize(graph.nodes.size());
  }

  Offers collect() {
    std::vector<Groups> groups;
    for (const Node& node : graph_.nodes) groups.push_back(groups_of(node));
    compile_ahead(groups);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].concat_axis) continue;
      add_alternatives(i, std::move(groups[i]));
      if (graph_.nodes[i].is_view && may_share_memory(graph_, graph_.nodes[i])) add_view(i);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].concat_axis)
        add_concatenation(i);
      else if (!graph_.nodes[i].is_view)
        add_permutation(i);
    }
    for (const TensorId input : graph_.inputs) {
      if (offers_.storages[input].empty())
        offers_.storages[input].push_back(in_buffer(graph_.tensors[input].shape));
    }
    add_conversions();
    return std::move(offers_);
  }

 private:
  // The number of the storage among the storages of the tensor. A new storage is added. `node`,
  // which needs the storage, is for messages.
  std::size_t number_of(TensorId tensor, const Stored& stored, const Node& node) {
    std::vector<Stored>& known = offers_.storages[tensor];
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].same_memory(stored)) return i;
    }
    const bool is_chosen = graph_.tensors[tensor].role != TensorRole::Constant;
    if (is_chosen && known.size() == kMaxStorages)
      fail(node.location, Code::NoStorageChoice,
           fmt::format("let the nodes that use '{}' agree on scopes and layouts",
                       graph_.tensors[tensor].name),
           "the node '{}' wants '{}' in {}, but other nodes already want it in {} storages, the "
           "most that a tensor can have",
           node.name, graph_.tensors[tensor].name, to_string(stored), kMaxStorages);
    known.push_back(stored);
    return known.size() - 1;
  }

  std::vector<Stored> stored_arguments(const Node& node, const Alternative& alternative) const {
    std::vector<Stored> stored;
    const std::vector<TensorId> tensors = tensors_of(node);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = graph_.tensors[tensors[i]];
      stored.push_back(node.call ? stored_as({alternative.scopes[i], {}}, tensor.shape, tensor.type,
                                             graph_.target, tensor.name, node.location)
                                 : stored_argument(*alternative.program, i, node.location));
    }
    return stored;
  }

  // An alternative and where it stores its arguments.
  struct Way {
    std::size_t number = 0;
    std::vector<Stored> stored;
    std::ptrdiff_t textures = 0;
  };

  // Alternatives of a node of which either none or all that the target can run take part: the first
  // group takes part that has an alternative that the target can run.
  using Groups = std::vector<std::vector<Way>>;

  // The alternatives that the target may be able to run, preferred groups first. Without a
  // preference there is one group; else alternatives with equally many textures are a group.
  Groups groups_of(const Node& node) const {
    std::map<std::ptrdiff_t, std::vector<Way>> by_rank;
    for (std::size_t i = 0; i < node.alternatives.size(); ++i) {
      if (auto way = way_of(node, i)) by_rank[rank_of(*way)].push_back(*std::move(way));
    }
    Groups groups;
    for (auto& [rank, group] : by_rank) groups.push_back(std::move(group));
    return groups;
  }

  std::ptrdiff_t rank_of(const Way& way) const {
    switch (preference_) {
      case StoragePreference::Any:
        return 0;
      case StoragePreference::Textures:
        return -way.textures;
      case StoragePreference::Buffers:
        break;
    }
    return way.textures;
  }

  // Compiles the alternatives that add_alternatives() surely asks for.
  void compile_ahead(const std::vector<Groups>& groups) {
    std::vector<StoredAlternative> candidates;
    for (std::size_t n = 0; n < groups.size(); ++n) {
      if (groups[n].empty()) continue;
      const Node& node = graph_.nodes[n];
      for (const Way& way : groups[n].front()) {
        const Alternative& alternative = node.alternatives[way.number];
        if (alternative.may_fail) candidates.push_back({node, alternative, way.stored});
      }
    }
    costs_.compile_ahead(candidates);
  }

  // Adds the alternatives of a node that take part. Alternatives that may fail to compile are
  // compiled only if their group may take part.
  void add_alternatives(std::size_t number, Groups groups) {
    const Node& node = graph_.nodes[number];
    std::vector<Offer>& offers = offers_.nodes[number];
    for (std::size_t i = 0; i < groups.size() && offers.empty(); ++i) {
      for (Way& way : groups[i]) {
        const Alternative& alternative = node.alternatives[way.number];
        if (alternative.may_fail && !costs_.works(node, alternative, way.stored)) continue;
        offers.push_back(offer_of(node, way.number, std::move(way.stored)));
      }
    }
    if (offers.empty())
      fail(node.location, Code::NoStorageChoice, "give it an alternative that the target can run",
           "no alternative of the node '{}' can be compiled", node.name);
  }

  // An alternative with its storages; nullopt if the alternative may fail and its arguments cannot
  // be stored.
  std::optional<Way> way_of(const Node& node, std::size_t number) const {
    const Alternative& alternative = node.alternatives[number];
    Way way{.number = number, .stored = {}};
    try {
      way.stored = stored_arguments(node, alternative);
    } catch (const UserError&) {
      if (!alternative.may_fail) throw;
      return std::nullopt;
    }
    way.textures = std::count_if(way.stored.begin(), way.stored.end(),
                                 [](const Stored& each) { return each.is_texture(); });
    return way;
  }

  Offer offer_of(const Node& node, std::size_t number, std::vector<Stored> stored) {
    const Alternative& alternative = node.alternatives[number];
    Offer offer{.alternative = number, .storages = {}};
    const std::vector<TensorId> tensors = tensors_of(node);
    offer.cost = costs_.of_node(node, alternative, stored);
    int64_t folded_arguments = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto fold = folds_.find(tensors[i]);
      if (fold != folds_.end() && stored[i].is_texture()) {
        if (auto layout = folded(stored[i].layout, fold->second)) {
          stored[i].layout = *std::move(layout);
          ++folded_arguments;
        }
      }
      offer.storages.push_back(number_of(tensors[i], stored[i], node));
    }
    if (folded_arguments > 0) {
      const double share = alternative.fold_share * static_cast<double>(folded_arguments);
      // The cost has no key: the key belongs to the measurement of the unfolded call site.
      offer.cost = {offer.cost.ns * (1 + share)};
    }
    return offer;
  }

  // The conversions from each storage in which a tensor may be written to each storage in which it
  // may be read.
  void add_conversions() {
    std::vector<std::set<std::size_t>> written(graph_.tensors.size()), read = written;
    for (const TensorId input : graph_.inputs) {
      for (std::size_t i = 0; i < offers_.storages[input].size(); ++i) written[input].insert(i);
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const std::vector<TensorId> tensors = tensors_of(node);
      for (const Offer& offer : offers_.nodes[n]) {
        for (std::size_t i = 0; i < tensors.size(); ++i)
          (i < node.inputs.size() ? read : written)[tensors[i]].insert(offer.storages[i]);
      }
    }
    offers_.conversions.resize(graph_.tensors.size());
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      const std::vector<Stored>& storages = offers_.storages[id];
      if (graph_.tensors[id].role == TensorRole::Constant) continue;
      auto& costs = offers_.conversions[id];
      costs.assign(storages.size(), std::vector<SiteCost>(storages.size()));
      for (const std::size_t from : written[id]) {
        for (const std::size_t to : read[id]) {
          if (from != to) costs[from][to] = costs_.of_conversion(id, storages[from], storages[to]);
        }
      }
    }
  }

  // Adds the offer of a view that needs no kernel: both tensors share one row-major buffer.
  void add_view(std::size_t number) {
    std::vector<Stored> stored;
    for (const TensorId id : tensors_of(graph_.nodes[number]))
      stored.push_back(in_buffer(graph_.tensors[id].shape));
    add_sharing(number, stored);
  }

  // Adds the offer that the output of a node shares the buffer of its only input.
  void add_sharing(std::size_t number, const std::vector<Stored>& stored) {
    const Node& node = graph_.nodes[number];
    const std::vector<TensorId> tensors = tensors_of(node);
    Offer offer{.alternative = {}, .storages = {}};
    for (std::size_t i = 0; i < tensors.size(); ++i)
      offer.storages.push_back(number_of(tensors[i], stored[i], node));
    offer.in_place = {PartPlace{}};
    offers_.nodes[number].push_back(std::move(offer));
  }

  // Whether an alternative of a node may use the tensor in this storage.
  bool is_wanted(TensorId tensor, const Stored& stored) const {
    return std::ranges::any_of(offers_.storages[tensor],
                               [&](const Stored& known) { return known.same_memory(stored); });
  }

  // Adds the offers of a permutation of axes that needs no kernel: one of its tensors is row-major,
  // and the other one, in a storage that a neighbor uses, has its elements in the same order, such
  // as an image with channels last.
  void add_permutation(std::size_t number) {
    const Node& node = graph_.nodes[number];
    const auto order = node.pattern == Pattern::Injective && node.computation
                           ? permuted_axes(*node.computation)
                           : std::nullopt;
    if (!order || !may_share_memory(graph_, node)) return;
    const TensorId input = node.inputs.front(), output = node.outputs.front();
    if (!numbers_of(graph_.tensors[input].shape)) return;
    // Passes may store the tensors in different types.
    if (graph_.tensors[input].type != graph_.tensors[output].type) return;
    const Stored of_input = in_buffer(graph_.tensors[input].shape);
    const Stored of_output = in_buffer(graph_.tensors[output].shape);
    const Stored like_output = permuted(of_output, *order);
    const Stored like_input = permuted(of_input, inverse(*order));
    if (is_wanted(input, like_output)) add_sharing(number, {like_output, of_output});
    if (is_wanted(output, like_input)) add_sharing(number, {of_input, like_input});
  }

  // The storage in which axis axes[i] is where axis i is in the given storage.
  static Stored permuted(Stored stored, const std::vector<std::size_t>& axes) {
    const ir::Shape shape = stored.layout.shape;
    for (std::size_t i = 0; i < axes.size(); ++i) stored.layout.shape[axes[i]] = shape[i];
    for (ir::LayoutPart& part : stored.layout.cols)
      part.axis = static_cast<int>(axes[static_cast<std::size_t>(part.axis)]);
    return stored;
  }

  // Each way in which a concatenation may store its inputs, then its output: in the scopes in which
  // neighboring nodes store these tensors, and in neighbors' layouts that differ from the scope's.
  std::vector<std::vector<Stored>> storages_around(const Node& node) {
    std::vector<ir::StorageScope> scopes;
    for (const TensorId tensor : tensors_of(node)) {
      for (const Stored& stored : offers_.storages[tensor]) {
        if (stored.is_by_rule() &&
            std::find(scopes.begin(), scopes.end(), stored.scope) == scopes.end())
          scopes.push_back(stored.scope);
      }
    }
    std::vector<std::vector<Stored>> found;
    for (const Stored& whole : offers_.storages[node.outputs.front()]) {
      if (auto parts = parts_like(node, whole)) found.push_back(std::move(*parts));
    }
    if (scopes.empty() && found.empty()) scopes.emplace_back();
    for (const ir::StorageScope& scope : scopes) {
      found.emplace_back();
      for (const TensorId id : tensors_of(node)) {
        const Tensor& tensor = graph_.tensors[id];
        found.back().push_back(stored_as({scope, {}}, tensor.shape, tensor.type, graph_.target,
                                         tensor.name, node.location));
      }
    }
    return found;
  }

  // Storages of the inputs, then of the whole, all in the scope of the whole and with layouts that
  // differ from the scope's own; nullopt if neighbors do not store all tensors in this way.
  std::optional<std::vector<Stored>> parts_like(const Node& node, const Stored& whole) const {
    if (whole.is_by_rule()) return std::nullopt;
    std::vector<Stored> list;
    for (const TensorId id : node.inputs) {
      const auto& known = offers_.storages[id];
      const auto found = std::find_if(known.begin(), known.end(), [&](const Stored& stored) {
        return stored.scope == whole.scope && !stored.is_by_rule();
      });
      if (found == known.end()) return std::nullopt;
      list.push_back(*found);
    }
    list.push_back(whole);
    return list;
  }

  void add_concatenation(std::size_t number) {
    const Node& node = graph_.nodes[number];
    for (const std::vector<Stored>& stored : storages_around(node)) {
      const std::vector<TensorId> tensors = tensors_of(node);
      Offer offer;
      for (std::size_t i = 0; i < tensors.size(); ++i)
        offer.storages.push_back(number_of(tensors[i], stored[i], node));
      offer.in_place = places_in(graph_, node, stored, buffer_alignment_);
      if (!offer.in_place) offer.cost = costs_.of_concatenation(node, stored);
      offers_.nodes[number].push_back(std::move(offer));
    }
  }

  const Graph& graph_;
  StoragePreference preference_;
  SiteCosts& costs_;
  int64_t buffer_alignment_;
  const Folds& folds_;
  Offers offers_;
};

}  // namespace

std::string name_of(const Node& node, const Offer& offer) {
  return offer.alternative ? node.alternatives[*offer.alternative].name
                           : std::string(offer.in_place ? "in place" : "copy");
}

Offers collect_offers(const Graph& graph, StoragePreference preference, SiteCosts& costs,
                      int64_t buffer_alignment, const Folds& folds) {
  return Collection(graph, preference, costs, buffer_alignment, folds).collect();
}

}  // namespace texloom::graph
