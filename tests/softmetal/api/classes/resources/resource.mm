#include "tests/softmetal/api/classes/device.h"
#include "tests/softmetal/api/classes/resources/resources.h"

using softmetal::report_misuse;

namespace softmetal {

std::shared_ptr<Storage> allocate(id<MTLDevice> device, size_t bytes, MTLStorageMode mode,
                                  void* borrowed) {
  const bool has_two_copies =
      mode == MTLStorageModeManaged && !((SMDevice*)device)->model_->is_unified;
  return std::make_shared<Storage>(bytes, has_two_copies, borrowed);
}

UsedObject name_for_uses(SMResource* resource) {
  return {resource, [resource described], [resource isTracked] != NO};
}

Resident resident_of(SMResource* resource) {
  const bool is_texture = [resource isKindOfClass:[SMTexture class]];
  return {*resource->part_, name_for_uses(resource),
          is_texture ? *((SMTexture*)resource)->texture_ : nullptr};
}

}  // namespace softmetal

@implementation SMResource
- (void)takePart:(softmetal::Part)part options:(MTLResourceOptions)options heap:(SMHeap*)heap {
  part_ = new softmetal::Part(std::move(part));
  options_ = options;
  heap_ = [heap retain];
}
- (void)dealloc {
  if (heap_ != nil && !aliasable_) [heap_ resourceEnds:self];
  [heap_ release];
  delete part_;
  [super dealloc];
}
- (MTLResourceOptions)resourceOptions {
  return options_;
}
- (MTLStorageMode)storageMode {
  return softmetal::storage_mode(options_);
}
- (MTLCPUCacheMode)cpuCacheMode {
  return softmetal::cache_mode(options_);
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  const MTLHazardTrackingMode mode = softmetal::tracking_mode(options_);
  if (mode != MTLHazardTrackingModeDefault) return mode;
  return heap_ == nil ? MTLHazardTrackingModeTracked : [heap_ hazardTrackingMode];
}
- (BOOL)isTracked {
  return [self hazardTrackingMode] == MTLHazardTrackingModeTracked;
}
- (NSUInteger)allocatedSize {
  return part_->size;
}
- (id<MTLHeap>)heap {
  return heap_;
}
- (NSUInteger)heapOffset {
  return heap_ == nil ? 0 : part_->offset;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  if (state != MTLPurgeableStateKeepCurrent && state != MTLPurgeableStateNonVolatile) {
    report_misuse("setPurgeableState: the software Metal never purges memory");
  }
  return MTLPurgeableStateNonVolatile;
}
- (void)makeAliasable {
  if (heap_ == nil) {
    report_misuse("makeAliasable: the resource must be in a heap");
  } else if (!aliasable_) {
    [heap_ resourceEnds:self];
    aliasable_ = YES;
  }
}
- (BOOL)isAliasable {
  return aliasable_;
}
@end
