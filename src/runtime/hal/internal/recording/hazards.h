// Tracks the memory that commands touch, to find which commands need a barrier between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

// Memory that a command touches: bytes of a buffer ([x_begin, x_end), one row), texels of a
// texture, or the memory of a slot. The rows of a region in a buffer include the gaps between them.
// A view over a buffer counts as whole rows.
struct MemoryAccess {
  enum class Kind : std::uint8_t { Buffer, Texture, Slot };

  Kind kind = Kind::Buffer;
  bool writes = false;
  const void* object = nullptr;  // for slots an odd number that encodes the index
  std::uint64_t x_begin = 0, x_end = 0;
  std::uint64_t y_begin = 0, y_end = 1;
  std::string_view name;  // the name of the parameter, or of a side of the copy
};

// `bytes` bytes of a buffer, or a rectangle of a texture.
MemoryAccess memory_of(const BoundBuffer& place, std::uint64_t bytes);
MemoryAccess memory_of(const BoundTexture& place, Extent2D extent);
// Whether two accesses have a byte or a texel in common. Views count as whole rows of their buffer.
bool share_memory(const MemoryAccess& a, const MemoryAccess& b);

// Whether a copy writes memory that it reads, including through a view over a buffer. Regions of
// the same texture are compared by texels, other memory as by share_memory().
bool overlaps_itself(const Segment& copy);

// The memory touched since the last barrier. Used by one thread at a time.
class HazardTracker {
 public:
  // `slots_alias`: a slot may refer to any memory, including the memory of another slot or of a
  // named object. Otherwise the slots' memory is assumed to be distinct.
  explicit HazardTracker(bool slots_alias) : slots_alias_(slots_alias) {}

  // Two commands, one of which writes memory that the other touches. Indices count segments.
  struct Hazard {
    const Segment* before = nullptr;
    std::size_t before_index = 0;
    MemoryAccess first, second;
  };
  // The first hazard between the segments added so far and the next one.
  std::optional<Hazard> find(const Segment& segment) const;

  // `segment` must outlive the tracker. A barrier or a host call resets the tracker.
  void add(const Segment& segment, std::size_t index);

  // Describes the commands and the memory that a barrier after the segments added so far must
  // order. The resources are in the order of their first use; the tracker owns them, and its next
  // call changes them.
  BarrierSegment describe_barrier();

 private:
  struct Entry {
    MemoryAccess access;
    const Segment* segment = nullptr;
    std::size_t index = 0;
    std::uint32_t next = kNone;  // the next access of the same object
  };
  // Open addressing; an entry is empty unless its epoch is the present one.
  struct TrackedObject {
    const void* object = nullptr;
    std::uint32_t epoch = 0;
    std::uint32_t first = kNone;  // the latest of its entries
    std::uint32_t count = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  const Entry* conflict(const MemoryAccess& access) const;
  const TrackedObject* find_object(const void* object) const;
  TrackedObject& tracked(const void* object);
  void grow();
  void add_access(const MemoryAccess& access, const Segment& segment, std::size_t index);
  void forget();

  bool slots_alias_;
  std::vector<Entry> entries_;
  std::vector<TrackedObject> objects_;
  std::size_t used_objects_ = 0;
  CommandKinds commands_ = CommandKinds::None;  // the kinds of the segments added so far
  std::vector<BarrierResource> resources_;      // the result of describe_barrier()
  std::uint32_t epoch_ = 1;
  // If slots alias: indices in entries_ of the first read and the first write, of all memory and of
  // slots alone.
  std::uint32_t any_read_ = kNone, any_write_ = kNone, slot_read_ = kNone, slot_write_ = kNone;
};

// The error for a missing barrier in front of `segment`, the `index`-th.
Status missing_barrier(const HazardTracker::Hazard& hazard, const Segment& segment,
                       std::size_t index);

}  // namespace texloom::hal
