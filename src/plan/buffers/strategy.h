// Which item an exact search for offsets decides on next.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "plan/buffers/stacking_state.h"

namespace texloom::plan {

// First a section is chosen, by three measures in lexicographic order; then an item that can be the
// lowest one in this section. The comments list the measures:
//   floor       the least lower bound of an item in the section
//   candidates  the number of items that can be the lowest one
//   slack       the bytes above the floor that the section's items leave free
enum class SectionRule : std::uint8_t {
  Any,          // no section: all items are considered, and ItemRule chooses
  LowFewTight,  // floor, candidates, slack
  LowTightFew,  // floor, slack, candidates
  FewTightLow,  // candidates, slack, floor
  FailedFew,    // candidates per failure, floor, slack
  FailedTight,  // slack per failure, candidates, floor
  FailedLow,    // floor per failure, slack, candidates
};

enum class ItemRule : std::uint8_t {
  Ranked,  // the first in the ranking
  Lowest,  // the item with the least possible offset; among equals, the first in the ranking
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

// All strategies, in the order in which a search tries them.
std::vector<Strategy> all_strategies();

// For each item, its rank: 0 for the item to decide on first.
std::vector<std::int32_t> rank_items(const Stacking& stacking, Ranking ranking);

// The ranks, with random exchanges of ranks that are a few places apart. The time of a run varies
// by orders of magnitude from one ranking to the next, so many short runs with slightly different
// rankings succeed sooner than one long run.
std::vector<std::int32_t> shuffle_ranks(const std::vector<std::int32_t>& ranks,
                                        std::minstd_rand& random);

// The item to decide on next in sections [begin, end); nullopt if no item there can be placed next.
std::optional<std::int32_t> choose_item(const StackingState& state, const Strategy& strategy,
                                        const std::vector<std::int32_t>& ranks, std::int32_t begin,
                                        std::int32_t end);

}  // namespace texloom::plan
