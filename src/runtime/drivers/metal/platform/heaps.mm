#include "runtime/drivers/metal/platform/heaps.h"

#include <utility>

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {

Handle<MetalHeap> Heaps::make_heap() const {
  MTLHeapDescriptor* descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
  descriptor.size = heap_bytes_;
  descriptor.storageMode = MTLStorageModePrivate;
  descriptor.hazardTrackingMode = MTLHazardTrackingModeUntracked;
  return adopt<MetalHeap>([objc(device_) newHeapWithDescriptor:descriptor]);
}

void Heaps::drop_empty() {
  bool has_empty = false;
  std::erase_if(heaps_, [&](const Kept& each) {
    if (objc(each.heap).usedSize > 0) return false;
    return std::exchange(has_empty, true);
  });
}

void Heaps::for_each_heap(std::uint64_t bytes, FunctionRef<bool(MetalHeap*)> use) {
  const std::lock_guard lock(mutex_);
  drop_empty();  // also for requests that are too large for a heap and may need the heaps' memory
  if (bytes > heap_bytes_ / kPart) return;
  for (const Kept& each : heaps_) {
    if (use(each.heap.get())) return;
  }
  Handle<MetalHeap> heap = make_heap();
  if (!heap || !use(heap.get())) return;
  SetMember member = residency_set_.keep(heap.get());
  heaps_.push_back({std::move(heap), std::move(member)});
}

}  // namespace texloom::hal::metal
