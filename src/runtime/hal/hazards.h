// What memory commands touch, and which of them need a barrier between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

// The memory that a command touches: bytes of a buffer ([x_begin, x_end), one row), texels of a
// texture, or whatever a slot has. Rows of a region in a buffer count with the gaps between them,
// those of a texture that is a view over a buffer whole.
struct MemoryAccess {
  enum class Kind : std::uint8_t { Buffer, Texture, Slot };

  Kind kind = Kind::Buffer;
  bool writes = false;
  const void* object = nullptr;  // for slots a number made into one
  std::uint64_t x_begin = 0, x_end = 0;
  std::uint64_t y_begin = 0, y_end = 1;
  std::string_view name;  // of the parameter or of the side of a copy
};

// The memory of a place: so many bytes of a buffer, a rectangle of a texture.
MemoryAccess memory_of(const BoundBuffer& place, std::uint64_t bytes);
MemoryAccess memory_of(const BoundTexture& place, Extent2D extent);
// Whether they have a byte or a texel in common; views are rows of their buffer, whole.
bool share_memory(const MemoryAccess& a, const MemoryAccess& b);

// Whether a copy writes what it reads, be it through a view over a buffer: then as share_memory()
// says, but for regions of one and the same texture, which are compared by texels.
bool overlaps_itself(const Segment& copy);

// What is touched between two barriers. Used by one thread at a time.
class HazardTracker {
 public:
  // `slots_alias`: a slot may have any memory, also that of another slot. Else it is taken for
  // memory of its own.
  explicit HazardTracker(bool slots_alias) : slots_alias_(slots_alias) {}

  // Two commands of which one writes what the other touches. Indices count segments.
  struct Hazard {
    const Segment* before = nullptr;
    std::size_t before_index = 0;
    MemoryAccess first, second;
  };
  // What a segment that comes next must be kept behind.
  std::optional<Hazard> find(const Segment& segment) const;

  // `segment` stays where it is. Barriers and host calls forget all before them.
  void add(const Segment& segment, std::size_t index);

 private:
  struct Entry {
    MemoryAccess access;
    const Segment* segment = nullptr;
    std::size_t index = 0;
    std::uint32_t next = kNone;  // of the same object
  };
  // Open addressing; a place whose epoch is not the present one is empty.
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
  std::uint32_t epoch_ = 1;
  // For aliasing slots, places in entries_: the first read and write of all, and of slots.
  std::uint32_t any_read_ = kNone, any_write_ = kNone, slot_read_ = kNone, slot_write_ = kNone;
};

// The error for a missing barrier in front of `segment`, the `index`-th.
Status missing_barrier(const HazardTracker::Hazard& hazard, const Segment& segment,
                       std::size_t index);

}  // namespace texloom::hal
