// The memory that the system keeps resident for a device.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "runtime/drivers/metal/api/handle.h"

namespace texloom::hal::metal {

class ResidencySet;

// Keeps an allocation in a residency set as long as it exists.
class SetMember {
 public:
  SetMember() = default;  // keeps nothing
  SetMember(SetMember&& other) noexcept
      : set_(std::exchange(other.set_, nullptr)),
        allocation_(other.allocation_),
        bytes_(other.bytes_) {}
  SetMember& operator=(SetMember&& other) noexcept {
    std::swap(set_, other.set_);
    std::swap(allocation_, other.allocation_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SetMember();

 private:
  friend class ResidencySet;
  SetMember(ResidencySet* set, void* allocation, std::uint64_t bytes)
      : set_(set), allocation_(allocation), bytes_(bytes) {}

  ResidencySet* set_ = nullptr;
  void* allocation_ = nullptr;  // id<MTLAllocation>
  std::uint64_t bytes_ = 0;
};

// The residency set of a device's queues. Without it, the system takes away the memory of idle
// devices, and the next command buffer waits until the memory is back. Before macOS 15 and iOS 18
// there are no residency sets; then nothing is kept. Thread safe.
class ResidencySet {
 public:
  // The most freed memory that the set may still hold, in bytes: as much as a heap.
  static constexpr std::uint64_t kMostRemoved = std::uint64_t{1} << 24;

  // `device` outlives this object. At most `limit` bytes are kept resident. The system brings other
  // memory in and out, as it does without a set.
  ResidencySet(MetalDevice* device, std::uint64_t limit);
  ~ResidencySet();

  void add_to(MetalQueue* queue) const;
  // Keeps an id<MTLAllocation> from the next update() on, until the returned member ends; the
  // allocation must outlive the member. Keeps nothing if the allocation is too large.
  SetMember keep(void* allocation);
  // Call this before a command buffer is committed. Commits all additions and removals in one call.
  void update();

 private:
  friend class SetMember;
  void remove(void* allocation, std::uint64_t bytes);
  void commit();

  Handle<MetalResidencySet> set_;  // null if the system has none
  std::uint64_t limit_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;          // guarded by mutex_, like the members below
  bool has_additions_ = false;       // since the last update
  std::uint64_t removed_bytes_ = 0;  // since the last commit
};

}  // namespace texloom::hal::metal
