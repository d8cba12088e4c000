#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/resources/resources.h"

using softmetal::report_misuse;

@implementation SMBuffer
+ (SMBuffer*)newWithDevice:(id<MTLDevice>)device
                      part:(softmetal::Part)part
                   options:(MTLResourceOptions)options
                      heap:(SMHeap*)heap {
  SMBuffer* const buffer = [[SMBuffer alloc] initWithDevice:device kind:"buffer"];
  [buffer takePart:std::move(part) options:options heap:heap];
  return buffer;
}
- (NSUInteger)length {
  return part_->size;
}
- (void*)contents {
  if ([self storageMode] == MTLStorageModePrivate) {
    report_misuse("contents: the host has no access to a buffer of MTLStorageModePrivate");
    return nullptr;
  }
  return part_->host();
}
- (uint64_t)gpuAddress {
  return reinterpret_cast<uint64_t>(part_->device());
}
- (void)didModifyRange:(NSRange)range {
  if ([self storageMode] != MTLStorageModeManaged) {
    report_misuse("didModifyRange: the buffer must have MTLStorageModeManaged");
  } else if (range.location > [self length] || range.length > [self length] - range.location) {
    report_misuse("didModifyRange: the range must lie in the buffer");
  } else {
    part_->storage->to_device(part_->offset + range.location, range.length);
  }
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)d
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow {
  std::string problem = softmetal::problem_of(d);
  if (problem.empty()) {
    const auto* format = softmetal::format_info(static_cast<softmetal::PixelFormat>(d.pixelFormat));
    const NSUInteger alignment =
        [device_ minimumLinearTextureAlignmentForPixelFormat:d.pixelFormat];
    if (offset % alignment != 0 || bytesPerRow % alignment != 0) {
      problem = "offset and bytesPerRow must be multiples of " + std::to_string(alignment);
    } else if (d.storageMode != [self storageMode]) {
      problem = "storage modes of texture and buffer must be equal";
    } else if (d.textureType != MTLTextureType2D && d.textureType != MTLTextureTypeTextureBuffer) {
      problem = "a texture of a buffer must be MTLTextureType2D or MTLTextureTypeTextureBuffer";
    } else if (bytesPerRow < d.width * format->bytes || offset > [self length] ||
               (d.height - 1) * bytesPerRow + d.width * format->bytes > [self length] - offset) {
      problem = "the rows of the texture must lie in the buffer";
    }
  }
  if (!problem.empty()) {
    report_misuse("newTextureWithDescriptor: " + problem);
    return nil;
  }
  if (softmetal::must_fail("newTextureWithDescriptor:offset:bytesPerRow:")) return nil;
  softmetal::Texture texture = softmetal::texture_of(d);
  texture.levels = {{part_->device() + offset, bytesPerRow, bytesPerRow * d.height}};
  SMTexture* const view = [SMTexture newWithDevice:device_
                                        descriptor:d
                                           texture:std::move(texture)
                                              part:*part_
                                              heap:nil
                                              base:self];
  view->buffer_offset_ = offset;
  view->bytes_per_row_ = bytesPerRow;
  return view;
}
// Does nothing: markers only show in traces.
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range {
  if (marker == nil || NSMaxRange(range) > [self length])
    report_misuse("addDebugMarker: the range must lie in the buffer");
}
- (void)removeAllDebugMarkers {
}
- (id<MTLBuffer>)remoteStorageBuffer {
  return nil;  // no device has peers
}
- (id<MTLBuffer>)newRemoteBufferViewForDevice:(id<MTLDevice>)device {
  (void)device;
  report_misuse("newRemoteBufferViewForDevice: the devices must be in one peer group");
  return nil;
}
@end
