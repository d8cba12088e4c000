// Offsets in one arena: each buffer gets a range of bytes that overlaps no buffer that is live at
// the same time.
//
// place_offsets() is quick and good. fit_offsets() and minimize_offsets() search exactly, as long
// as the effort lasts, and report a proved lower bound. Without a time limit (Effort), all
// functions are deterministic. The functions keep no state between calls and may be called by
// several threads.
//
//   const std::vector<BufferItem> items = {{.lifetime = {0, 1}, .size = 64}, …};
//   TL_ASSIGN_OR_RETURN(const OffsetPlan plan, minimize_offsets(items, {}));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/item.h"
#include "support/status.h"

namespace texloom::plan {

// How OffsetPlan::lower_bound is proved: why no plan takes fewer bytes.
enum class OffsetProof : std::uint8_t {
  LiveBytes,   // the bytes that are live at once, including padding for alignment
  Exhaustive,  // a search has tried all plans of fewer bytes
};

struct OffsetPlan {
  std::vector<std::int64_t> offsets;  // bytes, one for each item
  std::int64_t bytes = 0;             // the bytes that the arena needs
  std::int64_t lower_bound = 0;       // bytes
  OffsetProof proof = OffsetProof::LiveBytes;
  std::int64_t steps = 0;  // the steps that were spent
  // Whether the same call gives the same plan: the effort had no time limit.
  bool deterministic = true;

  bool optimal() const { return bytes == lower_bound; }
};

// All three functions fail like check_items(), and return the best plan found so far when the
// effort is used up or canceled.

// First fit in several orders, with a local search over the best. Steps beyond 200,000 are not
// used.
Result<OffsetPlan> place_offsets(std::span<const BufferItem> items, const Effort& effort = {});

// Looks for a plan of at most `capacity` bytes, and stops at the first one. If none is found,
// plan.bytes > capacity; if it is proved that none exists, plan.lower_bound > capacity.
// InvalidArgument if the capacity is negative.
Result<OffsetPlan> fit_offsets(std::span<const BufferItem> items, std::int64_t capacity,
                               const Effort& effort = {});

// Looks for a plan of the fewest bytes.
Result<OffsetPlan> minimize_offsets(std::span<const BufferItem> items, const Effort& effort = {});

}  // namespace texloom::plan
