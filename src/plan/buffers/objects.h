// Shared objects: each buffer gets one object for its whole lifetime, and no object holds two
// buffers that are live at the same time. Shared objects suit memory that cannot be divided, such
// as buffers that kernels must get from their first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/item.h"
#include "support/status.h"

namespace texloom::plan {

// How ObjectPlan::lower_bound is proved: why no plan has objects of fewer bytes.
enum class ObjectProof : std::uint8_t {
  LargestLive,  // at one moment, the k-th largest live item needs the k-th largest object
  Exhaustive,   // a search has tried all plans of fewer bytes
};

struct ObjectPlan {
  std::vector<std::size_t> objects;  // the object of each item, an index into `sizes`
  std::vector<std::int64_t> sizes;   // bytes of each object: the size of its largest item
  std::int64_t bytes = 0;            // the sum over all objects
  std::int64_t lower_bound = 0;      // bytes
  ObjectProof proof = ObjectProof::LargestLive;
  std::int64_t steps = 0;     // the steps that were spent
  bool deterministic = true;  // the effort had no time limit

  bool optimal() const { return bytes == lower_bound; }
};

// The plan of the fewest bytes that is found with this effort: first greedily, by size and by the
// bytes that each operator uses, then by an exact search. A step is an assignment that the search
// tries. Alignments do not matter, since an allocator places each object. Items that are separated
// never share an object.
//
// Errors: those of check_items() and check_separations().
//
// The greedy rules and the bound are from Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference" (2020).
Result<ObjectPlan> assign_objects(std::span<const BufferItem> items,
                                  std::span<const Separation> separations = {},
                                  const Effort& effort = {});

}  // namespace texloom::plan
