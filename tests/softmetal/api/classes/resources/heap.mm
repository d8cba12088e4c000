#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/device.h"
#include "tests/softmetal/api/classes/resources/resources.h"

using softmetal::Part;
using softmetal::report_misuse;

struct SMHeapState {
  std::mutex mutex;
  Part all;
  std::map<size_t, size_t> used;                         // end by begin; empty for placement heaps
  std::map<const void*, softmetal::Resident> residents;  // the existing resources
};

namespace {

// The alignment of every resource in a heap.
constexpr size_t kAlignment = 256;

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

@implementation SMHeap
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MTLHeapDescriptor*)descriptor {
  self = [super initWithDevice:device kind:"heap"];
  descriptor_ = [descriptor copy];
  heap_ = new SMHeapState;
  heap_->all = {softmetal::allocate(device, descriptor.size, descriptor.storageMode), 0,
                descriptor.size};
  if (heap_->all.storage->is_there()) heap_->all.storage->fill_with_garbage();
  return self;
}
- (void)dealloc {
  delete heap_;
  [descriptor_ release];
  [super dealloc];
}
- (std::vector<softmetal::Resident>)residents {
  const std::lock_guard lock(heap_->mutex);
  std::vector<softmetal::Resident> residents;
  for (const auto& [object, resident] : heap_->residents) residents.push_back(resident);
  return residents;
}
// Stores a copy of the resource's data, as another thread may deallocate the resource.
- (id)withResident:(SMResource*)resource {
  if (resource == nil) return nil;
  const std::lock_guard lock(heap_->mutex);
  heap_->residents[resource] = softmetal::resident_of(resource);
  return resource;
}
- (void)resourceEnds:(SMResource*)resource {
  const std::lock_guard lock(heap_->mutex);
  if (descriptor_.type == MTLHeapTypeAutomatic) heap_->used.erase(resource->part_->offset);
  heap_->residents.erase(resource);
}
- (MTLStorageMode)storageMode {
  return descriptor_.storageMode;
}
- (MTLCPUCacheMode)cpuCacheMode {
  return descriptor_.cpuCacheMode;
}
// Resources in heaps are tracked only if the heap requests it, unlike resources outside heaps.
- (MTLHazardTrackingMode)hazardTrackingMode {
  return descriptor_.hazardTrackingMode == MTLHazardTrackingModeDefault
             ? MTLHazardTrackingModeUntracked
             : descriptor_.hazardTrackingMode;
}
- (MTLResourceOptions)resourceOptions {
  return descriptor_.resourceOptions;
}
- (MTLHeapType)type {
  return descriptor_.type;
}
- (NSUInteger)size {
  return descriptor_.size;
}
- (NSUInteger)usedSize {
  const std::lock_guard lock(heap_->mutex);
  NSUInteger size = 0;
  for (const auto& [begin, end] : heap_->used) size += end - begin;
  return size;
}
- (NSUInteger)currentAllocatedSize {
  return descriptor_.size;
}
- (NSUInteger)allocatedSize {
  return descriptor_.size;
}
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  const std::lock_guard lock(heap_->mutex);
  size_t largest = 0, begin = 0;
  const auto gap = [&](size_t end) {
    const size_t first = alignment == 0 ? begin : (begin + alignment - 1) / alignment * alignment;
    if (end > first) largest = std::max(largest, end - first);
  };
  for (const auto& [used, end] : heap_->used) {
    gap(used);
    begin = end;
  }
  gap(descriptor_.size);
  return largest;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  if (state != MTLPurgeableStateKeepCurrent && state != MTLPurgeableStateNonVolatile)
    report_misuse("setPurgeableState: the software Metal never purges memory");
  return MTLPurgeableStateNonVolatile;
}

// Takes the first gap that is large enough. Returns a part without storage if there is none.
- (Part)takeSize:(size_t)size {
  const std::lock_guard lock(heap_->mutex);
  size_t begin = 0;
  for (const auto& [used, end] : heap_->used) {
    if (used - begin >= aligned(size)) break;
    begin = end;
  }
  if (begin > descriptor_.size || aligned(size) > descriptor_.size - begin) return {};
  heap_->used[begin] = begin + aligned(size);
  return {heap_->all.storage, begin, size};
}
- (Part)placeSize:(size_t)size at:(NSUInteger)offset by:(const char*)call {
  if (offset % kAlignment != 0 || offset > descriptor_.size || size > descriptor_.size - offset) {
    report_misuse(std::string(call) + ": the offset must be a multiple of " +
                  std::to_string(kAlignment) + ", and the resource lie in the heap");
    return {};
  }
  return {heap_->all.storage, offset, size};
}
- (BOOL)mayMake:(MTLResourceOptions)options type:(MTLHeapType)type by:(const char*)call {
  const char* problem = nullptr;
  if (descriptor_.type != type) {
    problem = type == MTLHeapTypeAutomatic
                  ? "a heap of MTLHeapTypePlacement needs the offset of the resource"
                  : "an offset is for heaps of MTLHeapTypePlacement alone";
  } else if (softmetal::storage_mode(options) != descriptor_.storageMode ||
             softmetal::cache_mode(options) != descriptor_.cpuCacheMode) {
    problem = "storage mode and cache mode must be those of the heap";
  }
  if (problem != nullptr) report_misuse(std::string(call) + ": " + problem);
  return problem == nullptr;
}
- (id<MTLBuffer>)bufferAt:(Part)part options:(MTLResourceOptions)options {
  if (part.storage == nullptr) return nil;
  return [self withResident:[SMBuffer newWithDevice:device_
                                               part:std::move(part)
                                            options:options
                                               heap:self]];
}
- (id<MTLTexture>)textureAt:(Part)part descriptor:(MTLTextureDescriptor*)d {
  if (part.storage == nullptr) return nil;
  softmetal::Texture texture = softmetal::texture_of(d);
  texture.lay_out(part.device(), static_cast<uint32_t>(d.mipmapLevelCount));
  return [self withResident:[SMTexture newWithDevice:device_
                                          descriptor:d
                                             texture:std::move(texture)
                                                part:std::move(part)
                                                heap:self
                                                base:nil]];
}
- (size_t)sizeOf:(MTLTextureDescriptor*)d by:(const char*)call {
  const std::string problem = softmetal::problem_of(d);
  if (!problem.empty()) {
    report_misuse(std::string(call) + ": " + problem);
    return 0;
  }
  return softmetal::texture_of(d).lay_out(nullptr, static_cast<uint32_t>(d.mipmapLevelCount));
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (![self mayMake:options type:MTLHeapTypeAutomatic by:"newBufferWithLength"] ||
      softmetal::must_fail("newBufferWithLength:options: of a heap"))
    return nil;
  return [self bufferAt:[self takeSize:length] options:options];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options
                              offset:(NSUInteger)offset {
  if (![self mayMake:options type:MTLHeapTypePlacement by:"newBufferWithLength"] ||
      softmetal::must_fail("newBufferWithLength:options:offset: of a heap"))
    return nil;
  return [self bufferAt:[self placeSize:length at:offset by:"newBufferWithLength"] options:options];
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)d {
  const size_t size = [self sizeOf:d by:"newTextureWithDescriptor"];
  if (size == 0 ||
      ![self mayMake:d.resourceOptions type:MTLHeapTypeAutomatic by:"newTextureWithDescriptor"] ||
      softmetal::must_fail("newTextureWithDescriptor: of a heap"))
    return nil;
  return [self textureAt:[self takeSize:size] descriptor:d];
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)d offset:(NSUInteger)offset {
  const size_t size = [self sizeOf:d by:"newTextureWithDescriptor"];
  if (size == 0 ||
      ![self mayMake:d.resourceOptions type:MTLHeapTypePlacement by:"newTextureWithDescriptor"] ||
      softmetal::must_fail("newTextureWithDescriptor:offset: of a heap"))
    return nil;
  return [self textureAt:[self placeSize:size at:offset by:"newTextureWithDescriptor"]
              descriptor:d];
}
@end
