#include "graph/scopes/texture_use.h"

#include <utility>

#include "compile/launch_plan.h"
#include "graph/scopes/planes.h"

namespace texloom::graph {

TextureUse::TextureUse(const Graph& graph, const Offers& offers, const Invocations& invocations)
    : graph_(graph), offers_(offers), invocations_(invocations) {
  for (std::size_t i = 0; i < invocations.list.size(); ++i) {
    for (const auto* list : {&invocations.list[i].reads, &invocations.list[i].writes}) {
      for (const StoredTensor& tensor : *list) use(tensor, static_cast<int64_t>(i));
    }
    keep_apart(invocations.list[i]);
  }
}

std::optional<plan::TexturePlan> TextureUse::plan(const std::set<TensorId>& foldable) const {
  plan::TextureProblem problem = problem_;
  for (const auto& [stored, id] : ids_) {
    plan::TextureItem& item = problem.items[static_cast<std::size_t>(id)];
    if (foldable.contains(static_cast<TensorId>(stored.tensor))) continue;
    item.height *= item.slices;
    item.slices = 1;
  }
  problem.max_width = problem.max_height = graph_.target.images().max_width;
  plan::TextureOptions options;
  options.effort = 1;
  auto result = plan::plan_textures(problem, options);
  if (!result.ok()) return std::nullopt;
  return std::move(result->plan);
}

bool TextureUse::is_temporary_texture(const StoredTensor& tensor) const {
  const TensorRole role = graph_.tensors[tensor.tensor].role;
  const bool is_argument =
      role == TensorRole::Constant ||
      (role != TensorRole::Intermediate && invocations_.stored[tensor.tensor] == tensor.storage);
  const Stored& stored = offers_.storages[tensor.tensor][tensor.storage];
  return !is_argument && stored.is_texture() && !stored.is_open;
}

void TextureUse::use(const StoredTensor& used, int64_t time) {
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

void TextureUse::keep_apart(const Invocation& invocation) {
  for (const StoredTensor& read : invocation.reads) {
    for (const StoredTensor& write : invocation.writes) {
      const auto a = find(read), b = find(write);
      if (a && b && *a != *b) problem_.read_write.emplace_back(*a, *b);
    }
  }
}

std::optional<int64_t> TextureUse::find(const StoredTensor& tensor) const {
  const auto found = ids_.find(invocations_.owner_of(tensor));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace texloom::graph
