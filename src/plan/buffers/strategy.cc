#include "plan/buffers/strategy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace texloom::plan {

namespace {

// The section with the smallest key is chosen.
using SectionKey = std::array<double, 3>;

struct SectionMeasures {
  std::int64_t floor = std::numeric_limits<std::int64_t>::max();  // lower bound of the lowest item
  std::int64_t candidates = 0;                                    // items that can be the lowest
  bool decidable = false;                                         // some candidate does not wait
};

SectionMeasures measure(const StackingState& state, std::int32_t section) {
  SectionMeasures result;
  const std::int64_t highest = state.ceiling() - state.open_bytes(section);
  for (const std::int32_t i : state.open_items(section)) {
    const std::int64_t lower = state.lower(i);
    result.floor = std::min(result.floor, lower);
    if (lower > highest) continue;
    ++result.candidates;
    result.decidable = result.decidable || !state.waits(i);
  }
  return result;
}

SectionKey key_of(const SectionMeasures& measures, SectionRule rule, std::int64_t slack,
                  std::int64_t failures) {
  const auto floor = static_cast<double>(measures.floor);
  const auto few = static_cast<double>(measures.candidates);
  const auto tight = static_cast<double>(slack);
  const auto failed = static_cast<double>(failures) + 1;
  switch (rule) {
    case SectionRule::Any:
      break;
    case SectionRule::LowFewTight:
      return {floor, few, tight};
    case SectionRule::LowTightFew:
      return {floor, tight, few};
    case SectionRule::FewTightLow:
      return {few, tight, floor};
    case SectionRule::FailedFew:
      return {few / failed, floor, tight};
    case SectionRule::FailedTight:
      return {(tight + 1) / failed, few, floor};
    case SectionRule::FailedLow:
      return {floor / failed, tight, few};
  }
  return {};
}

std::vector<std::int32_t> ranks_of(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> ranks(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) ranks[order[k]] = static_cast<std::int32_t>(k);
  return ranks;
}

}  // namespace

std::vector<Strategy> all_strategies() {
  using enum SectionRule;
  using enum ItemRule;
  constexpr std::array<std::pair<SectionRule, ItemRule>, 8> kRules{{{Any, Lowest},
                                                                    {LowFewTight, Ranked},
                                                                    {LowFewTight, Lowest},
                                                                    {LowTightFew, Lowest},
                                                                    {FewTightLow, Ranked},
                                                                    {FailedFew, Ranked},
                                                                    {FailedTight, Ranked},
                                                                    {FailedLow, Ranked}}};
  std::vector<Strategy> result;
  for (const Ranking ranking : {Ranking::Longest, Ranking::MostContended, Ranking::Largest}) {
    for (const auto& [section, item] : kRules) result.push_back({section, item, ranking});
  }
  return result;
}

std::vector<std::int32_t> rank_items(const Stacking& stacking, Ranking ranking) {
  const std::size_t count = stacking.items.size();
  const std::vector<std::int64_t> contended = contention(stacking);
  std::vector<std::array<double, 3>> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const StackedItem& item = stacking.items[i];
    const auto length = static_cast<double>(item.length) + 1;
    const auto size = static_cast<double>(item.size);
    const auto total = static_cast<double>(contended[i]);
    switch (ranking) {
      case Ranking::Longest:
        keys[i] = {length, length * size, total};
        break;
      case Ranking::MostContended:
        keys[i] = {total, length, length * size};
        break;
      case Ranking::Largest:
        keys[i] = {size, length, total};
        break;
    }
  }
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return keys[a] > keys[b]; });
  return ranks_of(order);
}

std::vector<std::int32_t> shuffle_ranks(const std::vector<std::int32_t>& ranks,
                                        std::minstd_rand& random) {
  constexpr std::int32_t kDistance = 6;
  std::vector<std::int32_t> order(ranks.size());
  std::vector<std::int32_t> keys(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    keys[i] = ranks[i] + static_cast<std::int32_t>(random() % kDistance);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return keys[a] < keys[b]; });
  return ranks_of(order);
}

namespace {

std::optional<std::int32_t> choose_section(const StackingState& state, SectionRule rule,
                                           std::int32_t begin, std::int32_t end) {
  std::optional<std::int32_t> chosen;
  SectionKey best{};
  for (std::int32_t s = begin; s < end; ++s) {
    const SectionMeasures measures = measure(state, s);
    if (!measures.decidable) continue;
    const std::int64_t slack = state.ceiling() - measures.floor - state.open_bytes(s);
    const SectionKey key = key_of(measures, rule, slack, state.failures(s));
    if (chosen.has_value() && !(key < best)) continue;
    chosen = s;
    best = key;
  }
  return chosen;
}

}  // namespace

std::optional<std::int32_t> choose_item(const StackingState& state, const Strategy& strategy,
                                        const std::vector<std::int32_t>& ranks, std::int32_t begin,
                                        std::int32_t end) {
  if (strategy.section != SectionRule::Any) {
    const auto section = choose_section(state, strategy.section, begin, end);
    if (!section.has_value()) return std::nullopt;
    begin = *section;
    end = begin + 1;
  }
  std::optional<std::int32_t> chosen;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    if (strategy.item == ItemRule::Lowest && state.lower(a) != state.lower(b)) {
      return state.lower(a) < state.lower(b);
    }
    return ranks[a] < ranks[b];
  };
  for (std::int32_t s = begin; s < end; ++s) {
    const std::int64_t highest = state.ceiling() - state.open_bytes(s);
    for (const std::int32_t i : state.open_items(s)) {
      if (state.waits(i) || state.lower(i) > highest) continue;
      if (!chosen.has_value() || before(i, *chosen)) chosen = i;
    }
  }
  return chosen;
}

}  // namespace texloom::plan
