// An exact search for offsets within a capacity.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/stacking.h"

namespace texloom::plan {

// The search is recursive, with one call for each item that is placed.
inline constexpr std::size_t kMaxSearchedItems = 2048;

enum class SearchOutcome : std::uint8_t { Found, Infeasible, OutOfSteps };

// Searches for a plan within one capacity. Runs with different strategies take turns, with growing
// limits of steps, since no strategy is good for all problems and a good one succeeds quickly. All
// runs share the table of refuted states.
//
// A refuted state is identified by a hash of 128 bits: Infeasible is wrong if two states of one
// search have equal hashes. For a million states, the probability of this is below 2^-87.
class OffsetSearch {
 public:
  // `stacking` must outlive the search and have at most kMaxSearchedItems items.
  OffsetSearch(const Stacking& stacking, std::int64_t capacity);
  ~OffsetSearch();

  // Takes at most `steps` steps of the budget. A step is a decision about one item.
  SearchOutcome run(std::int64_t steps, Budget& budget);

  // The offsets of stacking.items, once a run has returned Found.
  const std::vector<std::int64_t>& offsets() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace texloom::plan
