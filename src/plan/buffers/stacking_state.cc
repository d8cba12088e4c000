#include "plan/buffers/stacking_state.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace texloom::plan {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

StackingState::StackingState(const Stacking& stacking, std::int64_t capacity)
    : stacking_(stacking),
      capacity_(capacity),
      ceiling_(round_up(capacity, stacking.grain)),
      sections_(items_of_sections(stacking)) {
  place_in_section_.resize(stacking.items.size());
  for (std::vector<std::int32_t>& section : sections_) {
    for (std::uint32_t k = 0; k < section.size(); ++k) place_in_section_[section[k]].push_back(k);
  }
  collect_neighbors();
  reset();
}

void StackingState::collect_neighbors() {
  const std::vector<StackedItem>& items = stacking_.items;
  for (const StackedItem& item : items) {
    first_neighbor_.push_back(neighbors_.size());
    for (std::size_t j = 0; j < items.size(); ++j) {
      if (&items[j] != &item && items[j].overlaps(item)) {
        neighbors_.push_back(static_cast<std::int32_t>(j));
      }
    }
  }
  first_neighbor_.push_back(neighbors_.size());
}

void StackingState::reset() {
  undo(0);
  forget_queues();
  const std::size_t count = stacking_.items.size();
  rest_.assign(count, 0);
  lower_.assign(count, 0);
  placed_.assign(count, 0);
  told_to_wait_.assign(count, 0);
  item_queued_.assign(count, 0);
  section_queued_.assign(sections_.size(), 0);
  failures_.assign(sections_.size(), 0);
  open_.assign(sections_.size(), 0);
  open_bytes_.assign(sections_.size(), 0);
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    open_[s] = static_cast<std::uint32_t>(sections_[s].size());
    for (const std::int32_t i : sections_[s]) open_bytes_[s] += stacking_.items[i].padded;
  }
}

void StackingState::look_at_section(std::int32_t section) {
  if (std::exchange(section_queued_[section], 1) == 0) section_queue_.push_back(section);
}

void StackingState::look_at_item(std::int32_t item) {
  if (std::exchange(item_queued_[item], 1) == 0) item_queue_.push_back(item);
}

bool StackingState::forget_queues() {
  for (const std::int32_t i : item_queue_) item_queued_[i] = 0;
  for (const std::int32_t s : section_queue_) section_queued_[s] = 0;
  item_queue_.clear();
  section_queue_.clear();
  return false;
}

void StackingState::remove_from_sections(std::int32_t item) {
  const StackedItem& given = stacking_.items[item];
  for (std::int32_t s = given.begin; s < given.end; ++s) {
    std::vector<std::int32_t>& section = sections_[s];
    const std::uint32_t last = --open_[s];
    std::uint32_t& mine = place_in_section_[item][s - given.begin];
    const std::int32_t other = section[last];
    std::swap(section[mine], section[last]);
    place_in_section_[other][s - stacking_.items[other].begin] = mine;
    mine = last;
    open_bytes_[s] -= given.padded;
    look_at_section(s);
  }
}

bool StackingState::place(std::int32_t item) {
  placed_[item] = 1;
  trail_.push_back({Change::Placed, item, 0});
  remove_from_sections(item);
  const std::int64_t top = rest_[item] + stacking_.items[item].size;
  for (const std::int32_t other : neighbors(item)) {
    if (placed_[other] == 0 && !put_above(other, top)) return forget_queues();
  }
  return derive();
}

// Updates `item` after another item, which overlaps it and ends at `top`, has been placed.
bool StackingState::put_above(std::int32_t item, std::int64_t top) {
  if (told_to_wait_[item] != 0) {
    trail_.push_back({Change::Woken, item, 0});
    told_to_wait_[item] = 0;
  }
  const std::int64_t offset = round_up(top, stacking_.items[item].alignment);
  if (rest_[item] < offset) {
    trail_.push_back({Change::Rest, item, rest_[item]});
    rest_[item] = offset;
  }
  if (!raise(item, offset)) return false;
  // One item fewer can still be placed below this item.
  if (waits(item)) look_at_item(item);
  return true;
}

bool StackingState::let_wait(std::int32_t item) {
  told_to_wait_[item] = 1;
  trail_.push_back({Change::ToldToWait, item, 0});
  look_at_item(item);
  return derive();
}

// Raises the lower bound of the item to `offset`; false if the item then exceeds the capacity.
bool StackingState::raise(std::int32_t item, std::int64_t offset) {
  if (offset <= lower_[item]) return true;
  const StackedItem& given = stacking_.items[item];
  offset = round_up(offset, given.alignment);
  if (offset > capacity_ - given.size) return false;
  trail_.push_back({Change::Lower, item, lower_[item]});
  lower_[item] = offset;
  for (std::int32_t s = given.begin; s < given.end; ++s) look_at_section(s);
  for (const std::int32_t other : neighbors(item)) {
    if (placed_[other] == 0 && waits(other)) look_at_item(other);
  }
  if (waits(item)) look_at_item(item);
  return true;
}

bool StackingState::derive() {
  while (true) {
    if (!section_queue_.empty()) {
      const std::int32_t section = section_queue_.back();
      section_queue_.pop_back();
      section_queued_[section] = 0;
      if (derive_in_section(section)) continue;
      ++failures_[section];
      return forget_queues();
    }
    if (item_queue_.empty()) return true;
    const std::int32_t item = item_queue_.back();
    item_queue_.pop_back();
    item_queued_[item] = 0;
    if (!derive_for_waiting(item)) return forget_queues();
  }
}

bool StackingState::derive_in_section(std::int32_t section) {
  const std::span<const std::int32_t> items = open_items(section);
  if (items.empty()) return true;
  // Sorts by lower bound, the highest first. There are mostly few items: insertion sort is fastest.
  sorted_.clear();
  for (const std::int32_t i : items) {
    std::size_t k = sorted_.size();
    sorted_.push_back(i);
    for (; k > 0 && lower_[sorted_[k - 1]] < lower_[i]; --k) sorted_[k] = sorted_[k - 1];
    sorted_[k] = i;
  }
  std::int64_t above = 0;
  for (const std::int32_t i : sorted_) {
    above += stacking_.items[i].padded;
    if (lower_[i] > ceiling_ - above) return false;
  }
  const std::int64_t highest = ceiling_ - open_bytes_[section];  // offset of the lowest item
  std::int64_t second = kNever;  // the least offset of all items but the lowest
  for (const std::int32_t i : items) {
    if (lower_[i] <= highest) second = std::min(second, lower_[i] + stacking_.items[i].size);
  }
  for (const std::int32_t i : items) {
    if (lower_[i] > highest && !raise(i, second)) return false;
  }
  return true;
}

bool StackingState::derive_for_waiting(std::int32_t item) {
  if (placed_[item] != 0 || !waits(item)) return true;
  std::int64_t lowest = kNever;
  for (const std::int32_t other : neighbors(item)) {
    if (placed_[other] == 0) {
      lowest = std::min(lowest, lower_[other] + stacking_.items[other].size);
    }
  }
  return lowest != kNever && raise(item, lowest);
}

void StackingState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Entry entry = trail_.back();
    trail_.pop_back();
    const std::int32_t item = entry.item;
    switch (entry.change) {
      case Change::Lower:
        lower_[item] = entry.before;
        break;
      case Change::Rest:
        rest_[item] = entry.before;
        break;
      case Change::ToldToWait:
        told_to_wait_[item] = 0;
        break;
      case Change::Woken:
        told_to_wait_[item] = 1;
        break;
      case Change::Placed: {
        placed_[item] = 0;
        // Items are taken back in reverse order, so this item directly follows the open items of
        // its sections.
        const StackedItem& given = stacking_.items[item];
        for (std::int32_t s = given.begin; s < given.end; ++s) {
          ++open_[s];
          open_bytes_[s] += given.padded;
        }
        break;
      }
    }
  }
}

}  // namespace texloom::plan
