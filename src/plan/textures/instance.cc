#include "plan/textures/instance.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace texloom::plan {
namespace {

constexpr std::int64_t kMaxMeetings = std::int64_t{1} << 26;  // 256 MiB of indices

Status find_meetings(TextureInstance& instance) {
  std::vector<int> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  const auto& items = instance.items;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return items[a].lifetime.first < items[b].lifetime.first; });
  std::vector<int> live;
  std::int64_t meetings = 0;
  for (const int i : order) {
    std::erase_if(live, [&](int j) { return items[j].lifetime.last < items[i].lifetime.first; });
    meetings += 2 * static_cast<std::int64_t>(live.size());
    if (meetings > kMaxMeetings) {
      return make_error(StatusCode::LimitExceeded,
                        "more than {} pairs of items are live together; help: plan parts of the "
                        "program one by one",
                        kMaxMeetings / 2);
    }
    for (const int j : live) {
      instance.meets[i].push_back(j);
      instance.meets[j].push_back(i);
    }
    live.push_back(i);
  }
  return {};
}

// An exact item determines the size of its image. So the item cannot share the image with exact
// items of other extents, with items that do not fit into the image and, if the order of operators
// is fixed, with items that are live at the same time.
void separate_exact(TextureInstance& instance, bool any_order) {
  const int count = static_cast<int>(instance.size());
  for (int i = 0; i < count; ++i) {
    if (!instance.must_be_exact[i]) continue;
    const FoldedExtent image = folded(instance.items[i], 1);
    for (int j = 0; j < count; ++j) {
      if (j == i || (instance.must_be_exact[j] && j > i)) continue;
      const bool both = instance.must_be_exact[j];
      const bool differ = both && folded(instance.items[j], 1) != image;
      const bool meet = !any_order && instance.items[i].lifetime.meets(instance.items[j].lifetime);
      if (!meet && !differ && fits(instance.items[j], image.width, image.height)) continue;
      instance.apart[i].push_back(j);
      instance.apart[j].push_back(i);
    }
  }
}

// A selection of folds: those with the fewest texels, and some spread over all widths.
std::vector<FoldedExtent> selected(std::vector<FoldedExtent> folds) {
  constexpr std::size_t kSmall = 40;
  constexpr std::size_t kSpread = 8;
  if (folds.size() <= kSmall + kSpread) return folds;
  std::vector<FoldedExtent> result;
  for (std::size_t k = 0; k < kSpread; ++k) {
    result.push_back(folds[k * (folds.size() - 1) / (kSpread - 1)]);
  }
  std::stable_sort(folds.begin(), folds.end(), [](const FoldedExtent& a, const FoldedExtent& b) {
    return a.texels() < b.texels();
  });
  result.insert(result.end(), folds.begin(), folds.begin() + kSmall);
  std::sort(result.begin(), result.end(),
            [](const FoldedExtent& a, const FoldedExtent& b) { return a.fold < b.fold; });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void sort_neighbors(std::vector<std::vector<int>>& neighbors) {
  for (std::vector<int>& row : neighbors) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
}

Status complete(TextureInstance& instance, const TextureProblem& problem, bool any_order) {
  instance.max_width = problem.max_width;
  instance.max_height = problem.max_height;
  instance.meets.resize(instance.size());
  for (const TextureItem& item : instance.items) {
    std::vector<FoldedExtent> all = folds(item, problem.max_width, problem.max_height);
    instance.least_texels.push_back(least_texels(item, all));
    instance.folds.push_back(selected(std::move(all)));
  }
  TL_RETURN_IF_ERROR(find_meetings(instance));
  separate_exact(instance, any_order);
  sort_neighbors(instance.meets);
  sort_neighbors(instance.apart);
  return {};
}

}  // namespace

Result<std::vector<TextureInstance>> make_instances(const TextureProblem& problem,
                                                    const std::vector<bool>& exact,
                                                    bool any_order) {
  std::vector<TextureInstance> instances;
  std::unordered_map<std::string, std::size_t> by_format;
  std::unordered_map<std::int64_t, std::pair<std::size_t, int>> by_id;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const TextureItem& item = problem.items[i];
    const auto [found, is_new] = by_format.emplace(item.format, instances.size());
    if (is_new) {
      instances.emplace_back();
      instances.back().format = item.format;
    }
    TextureInstance& instance = instances[found->second];
    by_id[item.id] = {found->second, static_cast<int>(instance.size())};
    instance.positions.push_back(i);
    instance.items.push_back(item);
    instance.must_be_exact.push_back(exact[i]);
    instance.apart.emplace_back();
  }
  for (const auto& [a, b] : all_read_write(problem)) {
    const auto [format_a, index_a] = by_id.at(a);
    const auto [format_b, index_b] = by_id.at(b);
    if (format_a != format_b) continue;
    instances[format_a].apart[index_a].push_back(index_b);
    instances[format_a].apart[index_b].push_back(index_a);
  }
  for (TextureInstance& instance : instances)
    TL_RETURN_IF_ERROR(complete(instance, problem, any_order));
  return instances;
}

}  // namespace texloom::plan
