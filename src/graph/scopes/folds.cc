#include "graph/scopes/folds.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/scopes/in_place.h"
#include "graph/scopes/planes.h"
#include "graph/scopes/texture_use.h"

namespace texloom::graph {

using ir::Layout;

namespace {

Folds folds_in(const TextureUse& textures, const plan::TexturePlan& plan) {
  Folds folds;
  for (const auto& [stored, id] : textures.ids()) {
    const int64_t fold = plan.placements[static_cast<std::size_t>(id)].fold;
    if (fold > 1) folds.emplace(static_cast<TensorId>(stored.tensor), fold);
  }
  return folds;
}

// Intermediate tensors that are in a single texture, and for which each fold of the planner exists
// as a layout.
std::set<TensorId> foldable_in(const Graph& graph, const Offers& offers,
                               const TextureUse& textures) {
  std::set<TensorId> tensors, others;
  for (const auto& [stored, id] : textures.ids()) {
    const auto tensor = static_cast<TensorId>(stored.tensor);
    const Layout& layout = offers.storages[tensor][stored.storage].layout;
    const int64_t slices = planes_of(layout).slices;
    bool all = may_fold(graph, tensor) && slices > 1;
    for (int64_t fold = 2; all && fold <= slices; ++fold) all = folded(layout, fold).has_value();
    (all && !tensors.contains(tensor) ? tensors : others).insert(tensor);
  }
  for (const TensorId tensor : others) tensors.erase(tensor);
  return tensors;
}

// The cost that each fold adds to the chosen offers.
std::map<TensorId, double> added_costs(const Graph& graph, const Offers& offers,
                                       const Invocations& invocations, const Folds& folds) {
  std::map<TensorId, double> added;
  for (const Invocation& each : invocations.list) {
    if (!each.node) continue;
    const Offer& offer = *invocations.offers[*each.node];
    if (!offer.alternative) continue;
    const Alternative& alternative = graph.nodes[*each.node].alternatives[*offer.alternative];
    for (const auto* list : {&each.reads, &each.writes}) {
      for (const StoredTensor& tensor : *list) {
        const auto id = static_cast<TensorId>(tensor.tensor);
        if (folds.contains(id) && offers.storages[id][tensor.storage].is_texture())
          added[id] += offer.cost.ns * alternative.fold_share;
      }
    }
  }
  return added;
}

}  // namespace

Folds choose_folds(const Graph& graph, const Offers& offers, const Invocations& invocations,
                   double chosen_cost) {
  const TextureUse textures(graph, offers, invocations);
  if (textures.ids().empty()) return {};
  const auto unfolded = textures.plan({});
  std::set<TensorId> foldable = foldable_in(graph, offers, textures);
  while (!foldable.empty()) {
    const auto plan = textures.plan(foldable);
    if (!unfolded || !plan) return {};
    const Folds folds = folds_in(textures, *plan);
    if (folds.empty() || plan->texels() >= unfolded->texels()) return {};
    const std::map<TensorId, double> added = added_costs(graph, offers, invocations, folds);
    double sum = 0;
    for (const auto& [tensor, cost] : added) sum += cost;
    if (sum <= kFoldBudget * chosen_cost) return folds;
    // Drop the most expensive fold, and plan again with the other folds.
    foldable.erase(std::max_element(added.begin(), added.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first);
  }
  return {};
}

}  // namespace texloom::graph
