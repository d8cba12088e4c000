// The items of an arena in the form that searches use: sections of time instead of lifetimes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/item.h"

namespace texloom::plan {

// Two items overlap if they have a section in common. A section is a moment of time; there is one
// section for each maximal set of items that are live together.
struct StackedItem {
  std::int64_t size = 0;
  std::int64_t padded = 0;  // size, rounded up to Stacking::grain
  std::int64_t alignment = 1;
  std::int32_t begin = 0;    // the first section
  std::int32_t end = 0;      // one past the last section
  std::uint64_t length = 0;  // the lifetime in operators, minus one
  std::size_t source = 0;    // the index in the list that is planned

  bool overlaps(const StackedItem& other) const { return begin < other.end && other.begin < end; }
};

struct Stacking {
  std::vector<StackedItem> items;  // all items of more than zero bytes, ordered by `begin`
  std::int32_t section_count = 0;
  // Divides each size and each alignment. So it divides each offset and height of a plan in which
  // every item lies on the floor (offset 0) or on another item.
  std::int64_t unit = 1;
  // Divides each alignment. An item below another item takes its size rounded up to a multiple of
  // this number.
  std::int64_t grain = 1;
  // No plan takes fewer bytes: the items of a section lie above each other, and all but the topmost
  // item take multiples of `grain`.
  std::int64_t lower_bound = 0;
};

// Requires items that check_items() accepts.
Stacking make_stacking(std::span<const BufferItem> items);

std::int64_t round_up(std::int64_t value, std::int64_t multiple);

// The height of a plan: the largest end of an item of stacking.items at these offsets.
std::int64_t height(const Stacking& stacking, std::span<const std::int64_t> offsets);

// For each item, the largest sum of sizes in one of its sections.
std::vector<std::int64_t> contention(const Stacking& stacking);

// The items of each section.
std::vector<std::vector<std::int32_t>> items_of_sections(const Stacking& stacking);

}  // namespace texloom::plan
