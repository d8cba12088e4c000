// The state of an exact search for offsets within a capacity: decisions and their consequences.
//
// Of all plans within the capacity, the search looks for one whose offsets have the least sum. In
// such a plan each item lies on the floor or on another item, so the plan can be built from below:
// an item is *placed* once all items below it are placed. Its offset is its *rest*: the greatest
// end of the placed items that it overlaps. The search decides for one item after another: either
// the item is placed next among the items that it overlaps, or it *waits* until one of these items
// is placed below it.
//
// Consequences of the decisions are kept as a lower bound of each offset:
//  * An item that waits lies on an overlapping item that is not placed yet.
//  * The items of a section above some height must fit between that height and the capacity.
//  * If an item would exceed the capacity as the lowest item of a section, it lies on an item that
//    would not.
// An item whose lower bound exceeds its rest waits, too.
//
// Related work: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
// Machine Learning" (ASPLOS 2023), searches plans built from below in the order of offsets, and
// splits them into parts that are independent in time. Bounds from the items above a height
// correspond to bounds in single-machine scheduling with release dates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/stacking.h"

namespace texloom::plan {

class StackingState {
 public:
  // `stacking` must outlive the state.
  StackingState(const Stacking& stacking, std::int64_t capacity);

  // Returns to the initial state: no item is placed, and lower bounds are 0.
  void reset();

  // Each function makes one decision about an item that is neither placed nor waiting, and derives
  // the consequences. False: no plan within the capacity remains. Then only undo() may be called.
  bool place(std::int32_t item);
  bool let_wait(std::int32_t item);

  // undo() takes back all decisions that were made since mark() returned `mark`.
  std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  bool placed(std::int32_t item) const { return placed_[item] != 0; }
  bool waits(std::int32_t item) const {
    return told_to_wait_[item] != 0 || lower_[item] > rest_[item];
  }
  std::int64_t rest(std::int32_t item) const { return rest_[item]; }
  std::int64_t lower(std::int32_t item) const { return lower_[item]; }

  // The items of a section that are not placed, and the sum of their sizes, rounded up to grains.
  std::span<const std::int32_t> open_items(std::int32_t section) const {
    return {sections_[section].data(), open_[section]};
  }
  std::int64_t open_bytes(std::int32_t section) const { return open_bytes_[section]; }
  // The greatest end that items may have if sizes are rounded up to Stacking::grain.
  std::int64_t ceiling() const { return ceiling_; }
  // The number of decisions since reset() that failed in this section.
  std::int64_t failures(std::int32_t section) const { return failures_[section]; }

 private:
  enum class Change : std::uint8_t { Lower, Rest, Placed, ToldToWait, Woken };
  struct Entry {
    Change change;
    std::int32_t item;
    std::int64_t before;
  };

  std::span<const std::int32_t> neighbors(std::int32_t item) const {
    return {neighbors_.data() + first_neighbor_[item],
            neighbors_.data() + first_neighbor_[item + 1]};
  }
  void collect_neighbors();
  void remove_from_sections(std::int32_t item);
  bool put_above(std::int32_t item, std::int64_t top);
  bool raise(std::int32_t item, std::int64_t offset);
  bool derive();
  bool derive_in_section(std::int32_t section);
  bool derive_for_waiting(std::int32_t item);
  void look_at_section(std::int32_t section);
  void look_at_item(std::int32_t item);
  bool forget_queues();

  const Stacking& stacking_;
  std::int64_t capacity_;
  std::int64_t ceiling_;

  // By item. The neighbors of an item are the items that it overlaps.
  std::vector<std::size_t> first_neighbor_;
  std::vector<std::int32_t> neighbors_;
  std::vector<std::int64_t> rest_;
  std::vector<std::int64_t> lower_;
  std::vector<char> placed_;
  std::vector<char> told_to_wait_;
  std::vector<std::vector<std::uint32_t>> place_in_section_;

  // By section: its items. The first `open_` items are those that are not placed.
  std::vector<std::vector<std::int32_t>> sections_;
  std::vector<std::uint32_t> open_;
  std::vector<std::int64_t> open_bytes_;
  std::vector<std::int64_t> failures_;

  std::vector<Entry> trail_;
  // The queues of derive(), and for each item and section whether it is queued.
  std::vector<std::int32_t> item_queue_, section_queue_;
  std::vector<char> item_queued_, section_queued_;
  std::vector<std::int32_t> sorted_;  // reused by derive_in_section()
};

}  // namespace texloom::plan
