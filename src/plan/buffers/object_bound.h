// Lower bounds for plans of shared objects, from the items that are live at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/item.h"

namespace texloom::plan {

// Lower bounds of the sizes of shared objects, the largest first: the k-th largest object of any
// plan has at least the bytes of the k-th largest item at each moment.
std::vector<std::int64_t> least_object_sizes(std::span<const BufferItem> items);

// For each item, the bytes of all items that are live at its first operator.
std::vector<std::int64_t> live_bytes_at_begin(std::span<const BufferItem> items);

}  // namespace texloom::plan
