// Which item an exact search for offsets decides on next.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "plan/buffers/stacking_state.h"

namespace texloom::plan {

// First a section is chosen, by the first of three measures that distinguishes sections; then an
// item that can be the lowest in it.
enum class SectionRule : std::uint8_t {
  Any,          // every item is considered; the first by the rule for items
  LowFewTight,  // floor, candidates, slack
  LowTightFew,  // floor, slack, candidates
  FewTightLow,  // candidates, slack, floor
  FailedFew,    // candidates per failure, floor, slack
  FailedTight,  // slack per failure, candidates, floor
  FailedLow,    // floor per failure, slack, candidates
};

enum class ItemRule : std::uint8_t {
  Ranked,  // the first in the ranking
  Lowest,  // the one that can lie lowest, then the first in the ranking
};

enum class Ranking : std::uint8_t {
  Longest,        // by lifetime, area, contention
  MostContended,  // by contention, lifetime, area
  Largest,        // by size, lifetime, contention
};

struct Strategy {
  SectionRule section;
  ItemRule item;
  Ranking ranking;
};

// In the order in which a search tries them.
std::vector<Strategy> all_strategies();

// The rank of each item, 0 for the item to be decided on first.
std::vector<std::int32_t> rank_items(const Stacking& stacking, Ranking ranking);

// The ranks with neighbors exchanged at random, a few places apart. The time that a run takes
// varies by orders of magnitude from one ranking to the next, so that many short runs of slightly
// different rankings succeed sooner than a long one.
std::vector<std::int32_t> shuffle_ranks(const std::vector<std::int32_t>& ranks,
                                        std::minstd_rand& random);

// The item to be decided on next in sections [begin, end), if any can be placed next.
std::optional<std::int32_t> choose_item(const StackingState& state, const Strategy& strategy,
                                        const std::vector<std::int32_t>& ranks, std::int32_t begin,
                                        std::int32_t end);

}  // namespace texloom::plan
