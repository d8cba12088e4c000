// The relaxation behind the lower bound: which tensors share an image, without their places.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace texloom::plan {

// A partition of items into parts costs the sum of the parts' peaks: the peak of a part is the
// largest number of texels of its items that are live together. Items that are apart are never in
// one part. Each plan is such a partition, one part for each image, and each image has at least the
// texels of its part's peak. So the least cost of a partition is a lower bound of every plan; and
// so is the least cost of a partition of some of the items.
struct PartitionProblem {
  std::vector<std::int64_t> texels;         // the texels of each item, in its smallest fold
  std::vector<std::vector<int>> live_sets;  // items that are live together, each set sorted
  std::vector<std::vector<int>> apart;      // for each item, sorted
  std::int64_t max_peak = 0;                // the texels of the largest image
};

inline constexpr std::size_t kMaxPartitioned = 64;  // items of one search

struct PartitionLimits {
  std::int64_t below = 0;  // partitions that cost at least this much are ignored
  std::int64_t steps = 0;  // the number of steps after which the search gives up
  // Called now and then: the search gives up when it returns true. Empty: is never called.
  std::function<bool()> is_over = {};
};

// The least cost of a partition of `chosen` (different items, at most kMaxPartitioned), or
// `limits.below` if no partition costs less; nullopt if the search gave up. `steps`, if not null,
// is increased by the steps taken. The search is a dynamic program over the items, in the order of
// their first live sets. A state consists of the parts, as sets of items that still matter, and of
// the parts' peaks.
std::optional<std::int64_t> least_partition(const PartitionProblem& problem,
                                            std::vector<int> chosen, const PartitionLimits& limits,
                                            std::int64_t* steps = nullptr);

}  // namespace texloom::plan
