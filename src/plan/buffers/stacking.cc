#include "plan/buffers/stacking.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace texloom::plan {

namespace {

// One moment for each maximal set of items that are live together: the first operator of an item,
// if an item ends before the next item begins.
std::vector<std::int64_t> moments_of(std::span<const BufferItem> items) {
  std::vector<std::int64_t> firsts;
  std::vector<std::int64_t> lasts;
  for (const BufferItem& item : items) {
    if (item.size == 0) continue;
    firsts.push_back(item.lifetime.first);
    lasts.push_back(item.lifetime.last);
  }
  std::sort(firsts.begin(), firsts.end());
  std::sort(lasts.begin(), lasts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::vector<std::int64_t> moments;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto ends = std::lower_bound(lasts.begin(), lasts.end(), firsts[i]);
    const bool some_end_before_next = i + 1 == firsts.size() || *ends < firsts[i + 1];
    if (some_end_before_next) moments.push_back(firsts[i]);
  }
  return moments;
}

// The largest number that divides all sizes, and that each alignment divides or is a multiple of.
std::int64_t unit_of(std::span<const BufferItem> items) {
  std::int64_t unit = 0;
  for (const BufferItem& item : items) unit = std::gcd(unit, item.size);
  if (unit == 0) return 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BufferItem& item : items) {
      if (item.size == 0 || unit % item.alignment == 0 || item.alignment % unit == 0) continue;
      unit = std::gcd(unit, item.alignment);
      changed = true;
    }
  }
  return unit;
}

std::int64_t lower_bound_of(const Stacking& stacking) {
  std::vector<std::int32_t> by_end(stacking.items.size());
  std::iota(by_end.begin(), by_end.end(), 0);
  std::sort(by_end.begin(), by_end.end(), [&](std::int32_t a, std::int32_t b) {
    return stacking.items[a].end < stacking.items[b].end;
  });
  std::int64_t bound = 0;
  std::int64_t sum = 0;
  std::multiset<std::int64_t> paddings;  // the paddings of the items of the section
  auto ended = by_end.begin();
  for (const StackedItem& item : stacking.items) {
    for (; stacking.items[*ended].end <= item.begin; ++ended) {
      const StackedItem& gone = stacking.items[*ended];
      sum -= gone.padded;
      paddings.erase(paddings.find(gone.padded - gone.size));
    }
    sum += item.padded;
    paddings.insert(item.padded - item.size);
    bound = std::max(bound, sum - *paddings.rbegin());
  }
  return bound;
}

}  // namespace

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  const std::int64_t rest = value % multiple;
  return rest == 0 ? value : value + (multiple - rest);
}

Stacking make_stacking(std::span<const BufferItem> items) {
  Stacking result;
  result.unit = unit_of(items);
  const std::vector<std::int64_t> moments = moments_of(items);
  const auto section_at = [&](auto found) {
    return static_cast<std::int32_t>(found - moments.begin());
  };
  std::int64_t grain = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [lifetime, size, alignment] = items[i];
    if (size == 0) continue;
    StackedItem item;
    item.size = size;
    // A larger alignment loses nothing: offsets are multiples of the unit anyway.
    item.alignment = std::max(alignment, result.unit);
    item.begin = section_at(std::lower_bound(moments.begin(), moments.end(), lifetime.first));
    item.end = section_at(std::upper_bound(moments.begin(), moments.end(), lifetime.last));
    item.length = static_cast<std::uint64_t>(lifetime.last - lifetime.first);
    item.source = i;
    grain = std::gcd(grain, item.alignment);
    result.items.push_back(item);
  }
  result.grain = std::max<std::int64_t>(grain, 1);
  std::stable_sort(result.items.begin(), result.items.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (StackedItem& item : result.items) item.padded = round_up(item.size, result.grain);
  result.section_count = static_cast<std::int32_t>(moments.size());
  result.lower_bound = lower_bound_of(result);
  return result;
}

std::int64_t height(const Stacking& stacking, std::span<const std::int64_t> offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    top = std::max(top, offsets[i] + stacking.items[i].size);
  }
  return top;
}

std::vector<std::vector<std::int32_t>> items_of_sections(const Stacking& stacking) {
  std::vector<std::vector<std::int32_t>> result(stacking.section_count);
  for (std::size_t i = 0; i < stacking.items.size(); ++i) {
    for (std::int32_t s = stacking.items[i].begin; s < stacking.items[i].end; ++s) {
      result[s].push_back(static_cast<std::int32_t>(i));
    }
  }
  return result;
}

std::vector<std::int64_t> contention(const Stacking& stacking) {
  std::vector<std::int64_t> result(stacking.items.size(), 0);
  for (const std::vector<std::int32_t>& section : items_of_sections(stacking)) {
    std::int64_t sum = 0;
    for (const std::int32_t i : section) sum += stacking.items[i].size;
    for (const std::int32_t i : section) result[i] = std::max(result[i], sum);
  }
  return result;
}

}  // namespace texloom::plan
