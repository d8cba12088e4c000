#include "plan/buffers/object_bound.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace texloom::plan {

namespace {

using Indices = std::vector<std::size_t>;

Indices sorted_by(std::span<const BufferItem> items, std::int64_t Lifetime::* time) {
  Indices order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return items[a].lifetime.*time < items[b].lifetime.*time;
  });
  return order;
}

// Calls begin(item) and end(item) for each item in the order of time. begin() of the items that
// begin at an operator comes after end() of the items that ended before it, and before end() of the
// items that end with it.
template <class Begin, class End>
void sweep(std::span<const BufferItem> items, Begin begin, End end) {
  const Indices by_last = sorted_by(items, &Lifetime::last);
  auto ending = by_last.begin();
  for (const std::size_t item : sorted_by(items, &Lifetime::first)) {
    for (; items[*ending].lifetime.last < items[item].lifetime.first; ++ending) end(*ending);
    begin(item);
  }
}

}  // namespace

std::vector<std::int64_t> least_object_sizes(std::span<const BufferItem> items) {
  std::vector<std::int64_t> least;
  std::multiset<std::int64_t, std::greater<>> live;
  sweep(
      items,
      [&](std::size_t item) {
        live.insert(items[item].size);
        least.resize(std::max(least.size(), live.size()), 0);
        std::size_t k = 0;
        for (const std::int64_t size : live) {
          least[k] = std::max(least[k], size);
          ++k;
        }
      },
      [&](std::size_t item) { live.erase(live.find(items[item].size)); });
  return least;
}

std::vector<std::int64_t> live_bytes_at_begin(std::span<const BufferItem> items) {
  std::vector<std::int64_t> result(items.size(), 0);
  std::vector<std::size_t> begun;  // items that begin at the current operator
  std::int64_t live = 0;
  sweep(
      items,
      [&](std::size_t item) {
        if (!begun.empty() && items[begun.front()].lifetime.first != items[item].lifetime.first) {
          begun.clear();
        }
        begun.push_back(item);
        live += items[item].size;
        for (const std::size_t other : begun) result[other] = live;
      },
      [&](std::size_t item) { live -= items[item].size; });
  return result;
}

}  // namespace texloom::plan
