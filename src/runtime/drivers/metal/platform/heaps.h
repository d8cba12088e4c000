// Takes small pieces of device memory from heaps, which needs no system call, unlike separate
// allocations.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/platform/residency_set.h"
#include "support/function_ref.h"

namespace texloom::hal::metal {

// Heaps of private, untracked memory that stays resident, all of the same size. Released memory
// goes back to its heap; the next allocation leaves at most one empty heap. Thread safe.
class Heaps {
 public:
  // Heaps serve resources of at most 1/kPart of their size.
  static constexpr std::uint64_t kPart = 16;

  // `device` and `set` outlive this object. If `heap_bytes` is 0, there are no heaps.
  Heaps(MetalDevice* device, ResidencySet& set, std::uint64_t heap_bytes)
      : device_(device), residency_set_(set), heap_bytes_(heap_bytes) {}

  // Calls `make` with one heap after another until it makes an object of at most `bytes` bytes, and
  // returns the object. Null if `bytes` is too much for a heap, or there is no memory for another
  // heap.
  template <typename Object>
  Handle<Object> take(std::uint64_t bytes, FunctionRef<Handle<Object>(MetalHeap*)> make) {
    Handle<Object> made;
    for_each_heap(bytes, [&](MetalHeap* heap) {
      made = make(heap);
      return static_cast<bool>(made);
    });
    return made;
  }

 private:
  struct Kept {
    Handle<MetalHeap> heap;
    SetMember member;  // destroyed before the heap
  };

  // Calls `use` with each heap until it returns true; the last heap may be a new one.
  void for_each_heap(std::uint64_t bytes, FunctionRef<bool(MetalHeap*)> use);
  Handle<MetalHeap> make_heap() const;
  void drop_empty();  // but one

  MetalDevice* device_;
  ResidencySet& residency_set_;
  std::uint64_t heap_bytes_;
  std::mutex mutex_;
  std::vector<Kept> heaps_;  // guarded by mutex_
};

}  // namespace texloom::hal::metal
