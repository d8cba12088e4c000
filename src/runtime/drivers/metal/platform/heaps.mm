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

void Heaps::for_each_heap(std::uint64_t bytes, FunctionRef<bool(MetalHeap*)> use) {
  if (bytes > heap_bytes_ / kPart) return;
  const std::lock_guard lock(mutex_);
  bool has_empty = false, is_taken = false;
  std::vector<Kept> kept;
  for (Kept& each : heaps_) {
    is_taken = is_taken || use(each.heap.get());
    const bool is_empty = objc(each.heap).usedSize == 0;
    if (is_empty && has_empty) continue;
    has_empty = has_empty || is_empty;
    kept.push_back(std::move(each));
  }
  heaps_ = std::move(kept);
  if (is_taken) return;
  Handle<MetalHeap> heap = make_heap();
  if (!heap || !use(heap.get())) return;
  SetMember member = residency_set_.keep(heap.get());
  heaps_.push_back({std::move(heap), std::move(member)});
}

}  // namespace texloom::hal::metal
