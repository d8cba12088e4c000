// Small problems for comparison with an enumeration of all plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "plan/buffers/item.h"

namespace texloom::plan {

// At most six items, of at most five bytes each.
inline std::vector<BufferItem> random_items(std::uint32_t seed) {
  std::minstd_rand random(seed + 1);
  const std::vector<std::int64_t> alignments = {1, 1, 1, 2, 4, 3};
  std::vector<BufferItem> items(2 + random() % 5);
  const bool aligned = random() % 2 == 0;
  for (BufferItem& item : items) {
    item.lifetime.first = random() % 6;
    item.lifetime.last = item.lifetime.first + random() % 3;
    item.size = random() % 6;
    if (aligned) item.alignment = alignments[random() % alignments.size()];
  }
  return items;
}

inline bool overlap(const std::vector<BufferItem>& items, const std::vector<std::int64_t>& offsets,
                    std::size_t a, std::size_t b) {
  return items[a].lifetime.meets(items[b].lifetime) && items[a].size > 0 && items[b].size > 0 &&
         offsets[a] < offsets[b] + items[b].size && offsets[b] < offsets[a] + items[a].size;
}

// Whether offsets are aligned and no two items overlap in time and space.
inline bool is_valid(const std::vector<BufferItem>& items,
                     const std::vector<std::int64_t>& offsets) {
  if (offsets.size() != items.size()) return false;
  for (std::size_t a = 0; a < items.size(); ++a) {
    if (offsets[a] < 0 || offsets[a] % items[a].alignment != 0) return false;
    for (std::size_t b = 0; b < a; ++b) {
      if (overlap(items, offsets, a, b)) return false;
    }
  }
  return true;
}

// The fewest bytes of any plan, by trying all orders. In each order, an item is put directly above
// the earlier items that are live together with it; some order yields the best plan.
inline std::int64_t fewest_bytes(const std::vector<BufferItem>& items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  do {
    std::vector<std::int64_t> tops(items.size(), 0);
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const BufferItem& item = items[order[k]];
      if (item.size == 0) continue;
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < k; ++j) {
        if (items[order[j]].size > 0 && items[order[j]].lifetime.meets(item.lifetime)) {
          offset = std::max(offset, tops[order[j]]);
        }
      }
      offset = (offset + item.alignment - 1) / item.alignment * item.alignment;
      tops[order[k]] = offset + item.size;
      bytes = std::max(bytes, tops[order[k]]);
    }
    fewest = std::min(fewest, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return fewest;
}

}  // namespace texloom::plan
