#include "graph/scopes/images.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/scopes/texture_use.h"

namespace texloom::graph {
namespace {

// A choice; sets of tensors that may be moved from images to buffers, in the order of trial; and
// the texels of the choice's images.
struct Planned {
  Choice choice;
  std::vector<std::set<TensorId>> candidates;
  std::int64_t texels = 0;
};

// Adds the tensors of each image as a candidate, from the smallest image to the largest.
void add_images(const TextureUse& textures, const plan::TexturePlan& plan, Planned& planned) {
  std::vector<std::set<TensorId>> held(plan.images.size());
  for (const auto& [stored, id] : textures.ids())
    held[static_cast<std::size_t>(plan.placements[static_cast<std::size_t>(id)].image)].insert(
        static_cast<TensorId>(stored.tensor));
  std::vector<std::size_t> order(held.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto texels = [&](std::size_t i) { return plan.images[i].width * plan.images[i].height; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return texels(a) < texels(b); });
  for (const std::size_t i : order) planned.candidates.push_back(std::move(held[i]));
}

// Adds single tensors as candidates, in descending order of their texels times their lifetime in
// invocations.
void add_tensors(const TextureUse& textures, Planned& planned) {
  std::vector<std::pair<std::int64_t, TensorId>> list;
  for (const auto& [stored, id] : textures.ids()) {
    const plan::TextureItem& item = textures.item(id);
    const std::int64_t texels = item.width * item.height * item.slices;
    list.emplace_back(texels * (item.lifetime.last - item.lifetime.first),
                      static_cast<TensorId>(stored.tensor));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(list.size(), kTriedTensors); ++i)
    planned.candidates.push_back({list[i].second});
}

// Plans the images of a choice; nullopt if there are too many textures to plan.
std::optional<Planned> planned(const Graph& graph, const Offers& offers, Choice choice) {
  const Invocations invocations = invocations_of(graph, offers, choice);
  const TextureUse textures(graph, offers, invocations);
  Planned result{std::move(choice), {}, 0};
  if (textures.ids().empty()) return result;
  const auto plan = textures.plan({});
  if (!plan) return std::nullopt;
  add_images(textures, *plan, result);
  add_tensors(textures, result);
  result.texels = plan->texels();
  return result;
}

}  // namespace

std::set<TensorId> tensors_out_of_images(const Graph& graph, const Offers& offers,
                                         const ChoiceRules& rules, const Choice& choice,
                                         double ns_per_texel) {
  std::optional<Planned> best = planned(graph, offers, choice);
  if (!best) return {};
  const double most = choice.cost * (1 + kImageBudget);
  ChoiceRules own = rules;
  for (std::size_t i = 0; i < best->candidates.size();) {
    ChoiceRules fewer = own;
    fewer.in_buffers.insert(best->candidates[i].begin(), best->candidates[i].end());
    Choice other = choose(choice_problem(graph, offers, fewer), fewer.max_partial);
    ++i;
    if (other.options.empty() || other.cost > most) continue;
    const double added = other.cost - best->choice.cost;
    std::optional<Planned> next = planned(graph, offers, std::move(other));
    if (!next) continue;
    const double saved = static_cast<double>(best->texels - next->texels) * ns_per_texel;
    if (saved <= added) continue;
    own = std::move(fewer);
    best = std::move(next);
    i = 0;
  }
  return own.in_buffers;
}

}  // namespace texloom::graph
