// Buffers, textures and heaps. For Objective-C++ sources alone.
#pragma once

#include <vector>

#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/api/classes/resources/storage.h"
#include "tests/softmetal/execute/texture.h"

@class SMHeap;

namespace softmetal {

// What options of resources are made of.
inline MTLStorageMode storage_mode(MTLResourceOptions options) {
  return static_cast<MTLStorageMode>((options & MTLResourceStorageModeMask) >>
                                     MTLResourceStorageModeShift);
}
inline MTLCPUCacheMode cache_mode(MTLResourceOptions options) {
  return static_cast<MTLCPUCacheMode>(options & MTLResourceCPUCacheModeMask);
}
inline MTLHazardTrackingMode tracking_mode(MTLResourceOptions options) {
  return static_cast<MTLHazardTrackingMode>((options & MTLResourceHazardTrackingModeMask) >>
                                            MTLResourceHazardTrackingModeShift);
}

// Memory for a resource of the device.
std::shared_ptr<Storage> allocate(id<MTLDevice> device, size_t bytes, MTLStorageMode mode,
                                  void* borrowed = nullptr);

// Why a texture cannot be made so, or nothing.
std::string problem_of(MTLTextureDescriptor* descriptor);
// The texture without memory.
Texture texture_of(MTLTextureDescriptor* descriptor);

}  // namespace softmetal

@interface SMResource : SMObject {
 @public
  MTLResourceOptions options_;
  softmetal::Part* part_;
  SMHeap* heap_;  // that it is in, or nil
  BOOL aliasable_;
}
- (void)takePart:(softmetal::Part)part options:(MTLResourceOptions)options heap:(SMHeap*)heap;
- (MTLStorageMode)storageMode;
- (BOOL)isTracked;
@end

@interface SMBuffer : SMResource <MTLBuffer>
+ (SMBuffer*)newWithDevice:(id<MTLDevice>)device
                      part:(softmetal::Part)part
                   options:(MTLResourceOptions)options
                      heap:(SMHeap*)heap;
@end

@interface SMTexture : SMResource <MTLTexture> {
 @public
  MTLTextureDescriptor* descriptor_;
  std::shared_ptr<softmetal::Texture>* texture_;
  SMResource* base_;  // the buffer or the texture that it is a view over, or nil
  NSUInteger buffer_offset_, bytes_per_row_;
  NSUInteger first_level_, first_slice_;  // of the texture that it is a view over
}
// `texture` has the addresses of its levels.
+ (SMTexture*)newWithDevice:(id<MTLDevice>)device
                 descriptor:(MTLTextureDescriptor*)descriptor
                    texture:(softmetal::Texture)texture
                       part:(softmetal::Part)part
                       heap:(SMHeap*)heap
                       base:(SMResource*)base;
@end

@interface SMHeap : SMObject <MTLHeap> {
 @public
  MTLHeapDescriptor* descriptor_;
  struct SMHeapState* heap_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MTLHeapDescriptor*)descriptor;
- (void)resourceEnds:(SMResource*)resource;     // its memory may be used again
- (std::vector<softmetal::Resident>)residents;  // the resources that are in the heap
@end

namespace softmetal {
// The resource as the search for hazards knows it.
UsedObject name_for_uses(SMResource* resource);
Resident resident_of(SMResource* resource);
}  // namespace softmetal
