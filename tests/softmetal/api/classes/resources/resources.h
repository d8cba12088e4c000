// Buffers, textures and heaps. For Objective-C++ sources only.
#pragma once

#include <vector>

#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/api/classes/resources/storage.h"
#include "tests/softmetal/execute/texture.h"

@class SMHeap;

namespace softmetal {

// The fields of a resource's options.
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

// Allocates memory for a resource of the device.
std::shared_ptr<Storage> allocate(id<MTLDevice> device, size_t bytes, MTLStorageMode mode,
                                  void* borrowed = nullptr);

// Returns why a texture with this descriptor cannot be created, or an empty string.
std::string problem_of(MTLTextureDescriptor* descriptor);
// Returns the texture of a descriptor, without memory.
Texture texture_of(MTLTextureDescriptor* descriptor);

}  // namespace softmetal

@interface SMResource : SMObject {
 @public
  MTLResourceOptions options_;
  softmetal::Part* part_;
  SMHeap* heap_;  // the resource's heap, or nil
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
  SMResource* base_;  // the buffer or texture of a view, or nil
  NSUInteger buffer_offset_, bytes_per_row_;
  NSUInteger first_level_, first_slice_;  // in the viewed texture
}
// `texture` contains the addresses of its levels.
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
// Returns the resource as the search for hazards names it.
UsedObject name_for_uses(SMResource* resource);
Resident resident_of(SMResource* resource);
}  // namespace softmetal
