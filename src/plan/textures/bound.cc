#include "plan/textures/bound.h"

#include <algorithm>
#include <numeric>

namespace texloom::plan {
namespace {

constexpr std::int64_t kMostSteps = 4'000'000;  // the most steps of one search

std::int64_t sum_of(const PartitionProblem& problem, const std::vector<int>& items) {
  std::int64_t sum = 0;
  for (const int item : items) sum += problem.texels[item];
  return sum;
}

// Computes bounds from growing sets of the largest items, until the search gives up.
TextureProof bound_by_largest(const PartitionProblem& problem, const PartitionLimits& limits) {
  std::vector<int> order(problem.texels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return problem.texels[a] > problem.texels[b]; });
  TextureProof best{TextureProof::Kind::Partition, 0, {}};
  const std::size_t most = std::min(order.size(), kMaxPartitioned);
  std::int64_t taken = 0;
  // A proof must be cheap to check, so finding it may take only a part of the steps and of memory.
  const std::int64_t most_steps = std::min(limits.steps / 4, kMostSteps);
  for (std::size_t count = std::min<std::size_t>(2, most); count > 0;) {
    const std::vector<int> chosen(order.begin(),
                                  order.begin() + static_cast<std::ptrdiff_t>(count));
    const std::int64_t steps = std::min(most_steps, limits.steps - taken);
    const auto least =
        least_partition(problem, chosen, {limits.below, steps, limits.is_over}, &taken);
    if (!least) break;
    if (*least > best.texels) best = {TextureProof::Kind::Partition, *least, chosen};
    if (count == most || *least >= limits.below) break;
    count = std::min(most, count + std::max<std::size_t>(1, count / 4));
  }
  return best;
}

// Removes items from the proof, runs of items first, while the remaining items still prove the
// bound.
void reduce(const PartitionProblem& problem, TextureProof& proof, const PartitionLimits& limits) {
  std::int64_t taken = 0;
  for (std::size_t run = proof.items.size() / 2; run > 0; run /= 2) {
    for (std::size_t end = proof.items.size(); end > 0;) {
      const std::size_t begin = end > run ? end - run : 0;
      std::vector<int> fewer(proof.items.begin(),
                             proof.items.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), proof.items.begin() + static_cast<std::ptrdiff_t>(end),
                   proof.items.end());
      const std::int64_t steps = std::min(kMostSteps, limits.steps - taken);
      const auto least =
          least_partition(problem, fewer, {proof.texels, steps, limits.is_over}, &taken);
      if (least && *least == proof.texels) proof.items = std::move(fewer);
      end = begin;
    }
  }
}

}  // namespace

std::vector<std::vector<int>> live_sets(const TextureInstance& instance) {
  std::vector<int> births(instance.size());
  std::iota(births.begin(), births.end(), 0);
  const auto life = [&](int i) { return instance.items[i].lifetime; };
  std::stable_sort(births.begin(), births.end(),
                   [&](int a, int b) { return life(a).first < life(b).first; });
  std::vector<std::vector<int>> sets;
  std::vector<int> live;
  bool grew = false;
  // A live set is maximal if one of its items ends before the next item begins.
  const auto bury = [&](std::int64_t time) {
    const auto is_dead = [&](int i) { return life(i).last < time; };
    if (!std::any_of(live.begin(), live.end(), is_dead)) return;
    if (grew) sets.push_back(live);
    grew = false;
    std::erase_if(live, is_dead);
  };
  for (const int i : births) {
    bury(life(i).first);
    live.push_back(i);
    grew = true;
  }
  if (grew) sets.push_back(live);
  for (std::vector<int>& set : sets) std::sort(set.begin(), set.end());
  return sets;
}

PartitionProblem partition_problem(const TextureInstance& instance,
                                   std::vector<std::vector<int>> live_sets) {
  return {instance.least_texels, std::move(live_sets), instance.apart,
          instance.max_width * instance.max_height};
}

TextureProof largest_live_set(const PartitionProblem& problem) {
  TextureProof best;
  for (const std::vector<int>& set : problem.live_sets) {
    const std::int64_t texels = sum_of(problem, set);
    if (texels > best.texels) best = {TextureProof::Kind::Live, texels, set};
  }
  return best;
}

TextureProof lower_bound(const PartitionProblem& problem, const PartitionLimits& limits) {
  const TextureProof live = largest_live_set(problem);
  if (live.texels >= limits.below) return live;
  TextureProof partition = bound_by_largest(problem, limits);
  if (partition.texels <= live.texels) return live;
  reduce(problem, partition, limits);
  std::sort(partition.items.begin(), partition.items.end());
  return partition;
}

}  // namespace texloom::plan
