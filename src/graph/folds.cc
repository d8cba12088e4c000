#include "graph/folds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compile/launch_plan.h"
#include "graph/planes.h"
#include "plan/textures/planner.h"

namespace texloom::graph {

using ir::Layout;

namespace {

// The plan of textures for a choice, some of which may be folded.
class FoldSearch {
 public:
  FoldSearch(const Graph& graph, const Offers& offers, const Invocations& invocations)
      : graph_(graph), offers_(offers), invocations_(invocations) {
    for (std::size_t i = 0; i < invocations.list.size(); ++i) {
      for (const auto* list : {&invocations.list[i].reads, &invocations.list[i].writes}) {
        for (const StoredTensor& tensor : *list) use(tensor, static_cast<int64_t>(i));
      }
      keep_apart(invocations.list[i]);
    }
  }

  std::size_t textures() const { return ids_.size(); }

  // The plan if these tensors may be folded, the others not; nullopt if there are too many tensors
  // to plan.
  std::optional<plan::TexturePlan> plan(const std::set<TensorId>& foldable) const {
    plan::TextureProblem problem = problem_;
    for (const auto& [stored, id] : ids_) {
      plan::TextureItem& item = problem.items[static_cast<std::size_t>(id)];
      if (foldable.contains(static_cast<TensorId>(stored.tensor))) continue;
      item.height *= item.slices;
      item.slices = 1;
    }
    problem.max_width = problem.max_height = graph_.target.limits.max_image_size;
    plan::TextureOptions options;
    options.effort = 1;
    auto result = plan::plan_textures(problem, options);
    if (!result.ok()) return std::nullopt;
    return std::move(result->plan);
  }

  Folds folds_in(const plan::TexturePlan& plan) const {
    Folds folds;
    for (const auto& [stored, id] : ids_) {
      const int64_t fold = plan.placements[static_cast<std::size_t>(id)].fold;
      if (fold > 1) folds.emplace(static_cast<TensorId>(stored.tensor), fold);
    }
    return folds;
  }

  // Edges in one texture, all of whose folds exist as layouts.
  std::set<TensorId> foldable() const {
    std::set<TensorId> tensors, others;
    for (const auto& [stored, id] : ids_) {
      const auto tensor = static_cast<TensorId>(stored.tensor);
      const Layout& layout = offers_.storages[tensor][stored.storage].layout;
      const int64_t slices = planes_of(layout).slices;
      bool all = may_fold(graph_, tensor) && slices > 1;
      for (int64_t fold = 2; all && fold <= slices; ++fold) all = folded(layout, fold).has_value();
      (all && !tensors.contains(tensor) ? tensors : others).insert(tensor);
    }
    for (const TensorId tensor : others) tensors.erase(tensor);
    return tensors;
  }

 private:
  bool is_temporary_texture(const StoredTensor& tensor) const {
    const TensorRole role = graph_.tensors[tensor.tensor].role;
    const bool is_argument =
        role == TensorRole::Constant ||
        (role != TensorRole::Intermediate && invocations_.stored[tensor.tensor] == tensor.storage);
    return !is_argument && offers_.storages[tensor.tensor][tensor.storage].is_texture();
  }

  void use(const StoredTensor& used, int64_t time) {
    const StoredTensor tensor = invocations_.owner_of(used);
    if (!is_temporary_texture(tensor)) return;
    const auto [found, is_new] = ids_.emplace(tensor, static_cast<int64_t>(problem_.items.size()));
    if (is_new) {
      const Planes planes = planes_of(offers_.storages[tensor.tensor][tensor.storage].layout);
      plan::TextureItem item;
      item.id = found->second;
      item.lifetime = {time, time};
      item.height = planes.height;
      item.width = planes.width;
      item.slices = planes.slices;
      item.format = hal::to_string(compile::texel_format(graph_.tensors[tensor.tensor].type));
      problem_.items.push_back(std::move(item));
    }
    problem_.items[static_cast<std::size_t>(found->second)].lifetime.last = time;
  }

  void keep_apart(const Invocation& invocation) {
    for (const StoredTensor& read : invocation.reads) {
      for (const StoredTensor& write : invocation.writes) {
        const auto a = find(read), b = find(write);
        if (a && b && *a != *b) problem_.read_write.emplace_back(*a, *b);
      }
    }
  }

  std::optional<int64_t> find(const StoredTensor& tensor) const {
    const auto found = ids_.find(invocations_.owner_of(tensor));
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

  const Graph& graph_;
  const Offers& offers_;
  const Invocations& invocations_;
  std::map<StoredTensor, int64_t> ids_;  // an item's id is its position
  plan::TextureProblem problem_;
};

// What each fold adds to the costs of the chosen offers.
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
          added[id] += offer.cost * alternative.fold_share;
      }
    }
  }
  return added;
}

}  // namespace

Folds choose_folds(const Graph& graph, const Offers& offers, const Invocations& invocations,
                   double chosen_cost) {
  const FoldSearch search(graph, offers, invocations);
  if (search.textures() == 0) return {};
  const auto unfolded = search.plan({});
  std::set<TensorId> foldable = search.foldable();
  while (!foldable.empty()) {
    const auto plan = search.plan(foldable);
    if (!unfolded || !plan) return {};
    const Folds folds = search.folds_in(*plan);
    if (folds.empty() || plan->texels() >= unfolded->texels()) return {};
    const std::map<TensorId, double> added = added_costs(graph, offers, invocations, folds);
    double sum = 0;
    for (const auto& [tensor, cost] : added) sum += cost;
    if (sum <= kFoldBudget * chosen_cost) return folds;
    // The dearest fold is given up, and the rest planned again.
    foldable.erase(std::max_element(added.begin(), added.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first);
  }
  return {};
}

}  // namespace texloom::graph
