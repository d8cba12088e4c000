// The items of one-dimensional planning: buffers with lifetimes, sizes and alignments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/lifetime.h"
#include "support/status.h"

namespace texloom::plan {

// A buffer. Items are known by their index in the list that is planned.
struct BufferItem {
  Lifetime lifetime;
  std::int64_t size = 0;       // bytes; an item of zero bytes fits anywhere
  std::int64_t alignment = 1;  // bytes, of the offset; at least 1
};

// Two items that one object must not hold, even one after the other: a kernel reads one and writes
// the other, for example. The order of the two does not matter.
struct Separation {
  std::size_t first = 0;
  std::size_t second = 0;
};

// The largest sum of all sizes and alignments of one list. This limit leaves room for sums of two
// offsets.
inline constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 61;

// Returns InvalidArgument, with the index of the item at fault, for a lifetime that is reversed or
// begins before 0, a negative size, or an alignment below 1; LimitExceeded if the sum of sizes and
// alignments exceeds kMaxTotalBytes.
Status check_items(std::span<const BufferItem> items);

// Returns InvalidArgument for a separation that names a missing item, or one item twice.
Status check_separations(std::span<const Separation> separations, std::size_t item_count);

}  // namespace texloom::plan
