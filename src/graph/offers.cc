#include "graph/offers.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "graph/planes.h"
#include "graph/views.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

bool is_among(TensorId tensor, const std::vector<TensorId>& list) {
  return std::find(list.begin(), list.end(), tensor) != list.end();
}

class Collection {
 public:
  Collection(const Graph& graph, StoragePreference preference, const CostModel& model,
             int64_t buffer_alignment, const Folds& folds)
      : graph_(graph),
        preference_(preference),
        model_(model),
        buffer_alignment_(buffer_alignment),
        folds_(folds) {
    offers_.storages.resize(graph.tensors.size());
    offers_.nodes.resize(graph.nodes.size());
  }

  Offers collect() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].concat_axis) continue;
      add_alternatives(i);
      if (graph_.nodes[i].is_view && may_share_memory(graph_, graph_.nodes[i])) add_sharing(i);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].concat_axis) add_concatenation(i);
    }
    for (const TensorId input : graph_.inputs) {
      if (offers_.storages[input].empty())
        offers_.storages[input].push_back({{}, ir::linear_layout(graph_.tensors[input].shape)});
    }
    return std::move(offers_);
  }

 private:
  // The number of the storage among those of the tensor, to which it is added if it is new. The
  // node, whose tensor it is, wants it.
  std::size_t number_of(TensorId tensor, const Stored& stored, const Node& node) {
    std::vector<Stored>& known = offers_.storages[tensor];
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].same_memory(stored)) return i;
    }
    const bool is_chosen = graph_.tensors[tensor].role != TensorRole::Constant;
    if (is_chosen && known.size() == kMaxStorages)
      fail(node.location, Code::BadGraph, "let some of its nodes agree on scopes and layouts",
           "the node '{}' wants '{}' in {}, but other nodes want it in {} storages already, the "
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

  void add_alternatives(std::size_t number) {
    const Node& node = graph_.nodes[number];
    std::vector<std::vector<Stored>> stored;
    std::vector<std::ptrdiff_t> textures;
    for (const Alternative& alternative : node.alternatives) {
      stored.push_back(stored_arguments(node, alternative));
      textures.push_back(std::count_if(stored.back().begin(), stored.back().end(),
                                       [](const Stored& each) { return each.is_texture(); }));
    }
    const auto [fewest, most] = std::minmax_element(textures.begin(), textures.end());
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (preference_ == StoragePreference::Textures && textures[i] != *most) continue;
      if (preference_ == StoragePreference::Buffers && textures[i] != *fewest) continue;
      offers_.nodes[number].push_back(offer_of(node, i, std::move(stored[i])));
    }
  }

  Offer offer_of(const Node& node, std::size_t number, std::vector<Stored> stored) {
    const Alternative& alternative = node.alternatives[number];
    Offer offer{.alternative = number, .storages = {}};
    const std::vector<TensorId> tensors = tensors_of(node);
    double bytes = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      bytes += static_cast<double>(bytes_of(stored[i], graph_.tensors[tensors[i]].type));
    offer.cost = alternative.cost.value_or(
        cost_of(model_, bytes, alternative.program ? operations_of(*alternative.program) : 0));
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
    offer.cost *= 1 + alternative.fold_share * static_cast<double>(folded_arguments);
    return offer;
  }

  // Adds the offer of a view that runs nothing: both tensors are one row-major buffer.
  void add_sharing(std::size_t number) {
    const Node& node = graph_.nodes[number];
    Offer offer{.alternative = {}, .storages = {}};
    for (const TensorId id : tensors_of(node))
      offer.storages.push_back(
          number_of(id, {{}, ir::linear_layout(graph_.tensors[id].shape)}, node));
    offer.in_place = {PartPlace{}};
    offers_.nodes[number].push_back(std::move(offer));
  }

  // The scopes in which neighbors store the tensors of a concatenation.
  std::vector<ir::StorageScope> scopes_around(const Node& node) const {
    std::vector<ir::StorageScope> scopes;
    for (const TensorId tensor : tensors_of(node)) {
      for (const Stored& stored : offers_.storages[tensor]) {
        if (stored.is_by_rule() &&
            std::find(scopes.begin(), scopes.end(), stored.scope) == scopes.end())
          scopes.push_back(stored.scope);
      }
    }
    if (scopes.empty()) scopes.emplace_back();
    return scopes;
  }

  void add_concatenation(std::size_t number) {
    const Node& node = graph_.nodes[number];
    const TensorId whole = node.outputs.front();
    for (const ir::StorageScope& scope : scopes_around(node)) {
      std::vector<Stored> stored;
      for (const TensorId id : tensors_of(node)) {
        const Tensor& tensor = graph_.tensors[id];
        stored.push_back(stored_as({scope, {}}, tensor.shape, tensor.type, graph_.target,
                                   tensor.name, node.location));
      }
      Offer offer;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        offer.storages.push_back(number_of(node.inputs[i], stored[i], node));
      offer.storages.push_back(number_of(whole, stored.back(), node));
      offer.in_place = places_in(node, stored);
      if (!offer.in_place) offer.cost = copy_cost(model_, stored, graph_.tensors[whole].type);
      offers_.nodes[number].push_back(std::move(offer));
    }
  }

  std::optional<std::vector<PartPlace>> places_in(const Node& node,
                                                  const std::vector<Stored>& stored) const {
    const std::vector<Stored> parts(stored.begin(), stored.end() - 1);
    if (!are_edges_of_one(node)) return std::nullopt;
    if (stored.back().is_texture() && (needs_corner(node) || reads_and_writes(node)))
      return std::nullopt;
    auto places = part_places(parts, stored.back(), *node.concat_axis);
    if (!places || stored.back().is_texture()) return places;
    const int64_t bytes = graph_.tensors[node.outputs.front()].type.bytes();
    const bool aligned = std::all_of(places->begin(), places->end(), [&](const PartPlace& place) {
      return place.col * bytes % buffer_alignment_ == 0;
    });
    if (!aligned) places.reset();
    return places;
  }

  // Whether the tensors are memory of the graph's own, each part in this concatenation alone, and
  // the whole in none.
  bool are_edges_of_one(const Node& node) const {
    for (const TensorId tensor : tensors_of(node)) {
      if (graph_.tensors[tensor].role != TensorRole::Intermediate) return false;
    }
    std::set<TensorId> parts;
    for (const TensorId part : node.inputs) {
      if (!parts.insert(part).second) return false;
    }
    for (const Node& other : graph_.nodes) {
      if (!other.concat_axis || &other == &node) continue;
      for (const TensorId tensor : tensors_of(node)) {
        if (is_among(tensor, other.inputs) || is_among(tensor, other.outputs)) return false;
      }
    }
    return true;
  }

  // Whether a node takes one of the tensors to begin at the corner of its image: custom operators
  // do, and kernels that want an image of exactly its extent.
  bool needs_corner(const Node& node) const {
    const std::vector<TensorId> tensors = tensors_of(node);
    for (const TensorId tensor : tensors) {
      if (wants_exact(graph_, tensor)) return true;
    }
    const auto is_here = [&](TensorId tensor) { return is_among(tensor, tensors); };
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& other) {
      return other.call && (std::any_of(other.inputs.begin(), other.inputs.end(), is_here) ||
                            std::any_of(other.outputs.begin(), other.outputs.end(), is_here));
    });
  }

  // Whether a node reads one of the parts and writes another.
  bool reads_and_writes(const Node& node) const {
    const auto is_part = [&](TensorId tensor) { return is_among(tensor, node.inputs); };
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& other) {
      return std::any_of(other.inputs.begin(), other.inputs.end(), is_part) &&
             std::any_of(other.outputs.begin(), other.outputs.end(), is_part);
    });
  }

 public:
  static bool wants_exact(const Graph& graph, TensorId tensor) {
    for (const Node& node : graph.nodes) {
      const std::vector<TensorId> tensors = tensors_of(node);
      for (const Alternative& alternative : node.alternatives) {
        if (!alternative.program) continue;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          const auto& declaration = alternative.program->arguments[i].declaration;
          if (tensors[i] == tensor && declaration && declaration->exact_image) return true;
        }
      }
    }
    return false;
  }

 private:
  const Graph& graph_;
  StoragePreference preference_;
  const CostModel& model_;
  int64_t buffer_alignment_;
  const Folds& folds_;
  Offers offers_;
};

}  // namespace

Offers collect_offers(const Graph& graph, StoragePreference preference, const CostModel& model,
                      int64_t buffer_alignment, const Folds& folds) {
  return Collection(graph, preference, model, buffer_alignment, folds).collect();
}

bool may_fold(const Graph& graph, TensorId tensor) {
  if (graph.tensors[tensor].role != TensorRole::Intermediate) return false;
  for (const Node& node : graph.nodes) {
    if ((node.call || node.concat_axis) && is_among(tensor, tensors_of(node))) return false;
    // Outputs of one computation are stored alike.
    if (node.outputs.size() > 1 && is_among(tensor, node.outputs)) return false;
  }
  return !Collection::wants_exact(graph, tensor);
}

ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const CostModel& model) {
  ChoiceProblem problem;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const std::vector<Stored>& storages = offers.storages[i];
    auto& costs = problem.conversions.emplace_back();
    if (graph.tensors[i].role == TensorRole::Constant) continue;
    costs.resize(storages.size());
    for (std::size_t from = 0; from < storages.size(); ++from) {
      for (std::size_t to = 0; to < storages.size(); ++to)
        costs[from].push_back(
            from == to ? 0
                       : copy_cost(model, {storages[from], storages[to]}, graph.tensors[i].type));
    }
  }
  for (const TensorId input : graph.inputs) {
    auto& options = problem.nodes.emplace_back();
    for (std::size_t i = 0; i < offers.storages[input].size(); ++i)
      options.push_back({.cost = 0, .reads = {}, .writes = {{input, i}}});
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    auto& options = problem.nodes.emplace_back();
    for (const Offer& offer : offers.nodes[n]) {
      ChoiceOption option{.cost = offer.cost, .reads = {}, .writes = {}};
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (graph.tensors[node.inputs[i]].role != TensorRole::Constant)
          option.reads.push_back({node.inputs[i], offer.storages[i]});
      }
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        option.writes.push_back({node.outputs[i], offer.storages[node.inputs.size() + i]});
      options.push_back(std::move(option));
    }
  }
  return problem;
}

}  // namespace texloom::graph
