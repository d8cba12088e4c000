// The memory that commands touch, and which of them need a barrier between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

// Memory that a command touches: bytes of a buffer ([x_begin, x_end), one row), texels of a
// texture, or the memory of a slot. The rows of a region in a buffer include the gaps between them;
// those of a view over a buffer are whole.
struct MemoryAccess {
  enum class Kind : std::uint8_t { Buffer, Texture, Slot };

  Kind kind = Kind::Buffer;
  bool writes = false;
  const void* object = nullptr;  // for slots an odd number that stands for the index
  std::uint64_t x_begin = 0, x_end = 0;
  std::uint64_t y_begin = 0, y_end = 1;
  std::string_view name;  // of the parameter or of the side of a copy
};

// `bytes` bytes of a buffer, or a rectangle of a texture.
MemoryAccess memory_of(const BoundBuffer& place, std::uint64_t bytes);
MemoryAccess memory_of(const BoundTexture& place, Extent2D extent);
// Whether they have a byte or a texel in common; views are rows of their buffer, whole.
bool share_memory(const MemoryAccess& a, const MemoryAccess& b);

// Whether a copy writes memory that it reads, also through a view over a buffer. Regions of one
// texture are compared by texels, other memory as by share_memory().
bool overlaps_itself(const Segment& copy);

// The memory touched since the last barrier. Used by one thread at a time.
class HazardTracker {
 public:
  // `slots_alias`: a slot may hold any memory, also that of another slot or of a named object. Else
  // each slot is memory of its own.
  explicit HazardTracker(bool slots_alias) : slots_alias_(slots_alias) {}

  // Two commands of which one writes what the other touches. Indices count segments.
  struct Hazard {
    const Segment* before = nullptr;
    std::size_t before_index = 0;
    MemoryAccess first, second;
  };
  // The first hazard between what was added and a segment that follows.
  std::optional<Hazard> find(const Segment& segment) const;

  // `segment` must outlive the tracker. Barriers and host calls forget all before them.
  void add(const Segment& segment, std::size_t index);

  // What a barrier after all that was added has to order. The resources are in the order of their
  // first use; they are the tracker's, and change with its next call.
  BarrierSegment describe_barrier();

 private:
  struct Entry {
    MemoryAccess access;
    const Segment* segment = nullptr;
    std::size_t index = 0;
    std::uint32_t next = kNone;  // of the same object
  };
  // Open addressing; a place is empty unless its epoch is the present one.
  struct Place {
    const void* object = nullptr;
    std::uint32_t epoch = 0;
    std::uint32_t first = kNone;  // of its entries
    std::uint32_t count = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  const Entry* conflict(const MemoryAccess& access) const;
  const Place* find_place(const void* object) const;
  Place& place_for(const void* object);
  void grow();
  void add_access(const MemoryAccess& access, const Segment& segment, std::size_t index);
  void forget();

  bool slots_alias_;
  std::vector<Entry> entries_;
  std::vector<Place> places_;
  std::size_t used_places_ = 0;
  CommandKinds commands_ = CommandKinds::None;  // that were added
  std::vector<BarrierResource> resources_;      // of describe_barrier
  std::uint32_t epoch_ = 1;
  // For slots that alias, indices in entries_: the first read and write of all, and of slots.
  std::uint32_t any_read_ = kNone, any_write_ = kNone, slot_read_ = kNone, slot_write_ = kNone;
};

// The error for a missing barrier in front of `segment`, the `index`-th.
Status missing_barrier(const HazardTracker::Hazard& hazard, const Segment& segment,
                       std::size_t index);

}  // namespace texloom::hal
