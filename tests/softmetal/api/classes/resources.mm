#include <sys/mman.h>

#include <cstring>

#include "tests/softmetal/api/classes/objects.h"

namespace softmetal {
NSError* make_error(NSString* domain, NSInteger code, const std::string& text) {
  return [NSError errorWithDomain:domain
                             code:code
                         userInfo:[NSDictionary dictionaryWithObject:string_of(text)
                                                              forKey:NSLocalizedDescriptionKey]];
}

Storage::Storage(size_t bytes, void* borrowed)
    : data(static_cast<uint8_t*>(borrowed)), size(bytes), owned(borrowed == nullptr) {
  if (!owned) return;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    size = 0;
    return;
  }
  data = static_cast<uint8_t*>(memory);
}

Storage::~Storage() {
  if (owned && data != nullptr) munmap(data, size);
}
}  // namespace softmetal

using softmetal::report_misuse;
using softmetal::Storage;

@implementation SMObject
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super init];
  device_ = device;  // devices live as long as the program
  return self;
}
- (void)dealloc {
  [label_ release];
  [super dealloc];
}
- (id<MTLDevice>)device {
  return device_;
}
- (NSString*)label {
  return label_;
}
- (void)setLabel:(NSString*)label {
  NSString* const before = label_;
  label_ = [label copy];
  [before release];
}
@end

@implementation SMFence
@end

@implementation SMResource
- (void)take:(std::shared_ptr<Storage>)storage options:(MTLResourceOptions)options {
  storage_ = new std::shared_ptr<Storage>(std::move(storage));
  options_ = options;
}
- (void)dealloc {
  delete storage_;
  [super dealloc];
}
- (MTLResourceOptions)resourceOptions {
  return options_;
}
- (MTLStorageMode)storageMode {
  return static_cast<MTLStorageMode>((options_ & MTLResourceStorageModeMask) >>
                                     MTLResourceStorageModeShift);
}
- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(options_ & MTLResourceCPUCacheModeMask);
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return static_cast<MTLHazardTrackingMode>((options_ & MTLResourceHazardTrackingModeMask) >>
                                            MTLResourceHazardTrackingModeShift);
}
- (NSUInteger)allocatedSize {
  return (*storage_)->size;
}
- (id<MTLHeap>)heap {
  return nil;
}
- (NSUInteger)heapOffset {
  return 0;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  (void)state;
  return MTLPurgeableStateNonVolatile;
}
@end

@implementation SMBuffer
- (NSUInteger)length {
  return (*storage_)->size;
}
- (uint8_t*)bytes {
  return (*storage_)->data;
}
- (void*)contents {
  if ([self storageMode] == MTLStorageModePrivate) {
    report_misuse("contents: the host has no access to a buffer of MTLStorageModePrivate");
    return nullptr;
  }
  return [self bytes];
}
- (uint64_t)gpuAddress {
  return reinterpret_cast<uint64_t>([self bytes]);
}
- (void)didModifyRange:(NSRange)range {
  if ([self storageMode] != MTLStorageModeManaged) {
    report_misuse("didModifyRange: the buffer must have MTLStorageModeManaged");
  } else if (range.location > [self length] || range.length > [self length] - range.location) {
    report_misuse("didModifyRange: the range must lie in the buffer");
  }
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow {
  const NSUInteger alignment =
      [device_ minimumLinearTextureAlignmentForPixelFormat:descriptor.pixelFormat];
  if (offset % alignment != 0 || bytesPerRow % alignment != 0) {
    report_misuse("newTextureWithDescriptor: offset and bytesPerRow must be multiples of " +
                  std::to_string(alignment));
    return nil;
  }
  if (descriptor.storageMode != [self storageMode]) {
    report_misuse("newTextureWithDescriptor: storage modes of texture and buffer must be equal");
    return nil;
  }
  return [[SMTexture alloc] initWithDevice:device_
                                descriptor:descriptor
                                   storage:*storage_
                                    offset:offset
                               bytesPerRow:bytesPerRow];
}
@end

@implementation SMTexture
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    descriptor:(MTLTextureDescriptor*)d
                       storage:(std::shared_ptr<Storage>)storage
                        offset:(NSUInteger)offset
                   bytesPerRow:(NSUInteger)bytesPerRow {
  self = [super initWithDevice:device];
  using softmetal::TextureKind;
  static constexpr TextureKind kKinds[] = {
      TextureKind::T1d,        TextureKind::T1dArray, TextureKind::T2d,       TextureKind::T2dArray,
      TextureKind::T2dMs,      TextureKind::Cube,     TextureKind::CubeArray, TextureKind::T3d,
      TextureKind::T2dMsArray, TextureKind::Buffer};
  const auto* format = softmetal::format_info(static_cast<softmetal::PixelFormat>(d.pixelFormat));
  std::string problem;
  if (format == nullptr) {
    problem = "the pixel format is not valid";
  } else if (d.width == 0 || d.height == 0 || d.depth == 0 || d.arrayLength == 0) {
    problem = "extents must not be 0";
  } else if (d.width > 16384 || d.height > 16384 || d.depth > 2048 || d.arrayLength > 2048) {
    problem = "extents are over the limits of the device (16384, 16384, 2048; 2048 layers)";
  } else if (storage != nullptr &&
             (bytesPerRow < d.width * format->bytes || offset > storage->size ||
              (d.height - 1) * bytesPerRow + d.width * format->bytes > storage->size - offset)) {
    problem = "the rows of the texture must lie in the buffer";
  } else if (storage != nullptr && d.textureType != MTLTextureType2D &&
             d.textureType != MTLTextureTypeTextureBuffer) {
    problem = "a texture of a buffer must be MTLTextureType2D or MTLTextureTypeTextureBuffer";
  }
  if (!problem.empty()) {
    report_misuse("newTextureWithDescriptor: " + problem);
    [self release];
    return nil;
  }
  descriptor_ = [d copy];
  texture_ = new softmetal::Texture;
  texture_->kind = kKinds[d.textureType];
  texture_->format = format->format;
  texture_->width = static_cast<uint32_t>(d.width);
  texture_->height = static_cast<uint32_t>(d.height);
  texture_->depth = static_cast<uint32_t>(d.depth);
  texture_->layers = static_cast<uint32_t>(d.arrayLength);
  texture_->samples = static_cast<uint32_t>(d.sampleCount);
  texture_->readable = d.usage == MTLTextureUsageUnknown || (d.usage & MTLTextureUsageShaderRead);
  texture_->writable = d.usage == MTLTextureUsageUnknown || (d.usage & MTLTextureUsageShaderWrite);
  const auto levels = static_cast<uint32_t>(d.mipmapLevelCount);
  if (storage == nullptr) {
    storage = std::make_shared<Storage>(texture_->lay_out(nullptr, levels), nullptr);
    texture_->lay_out(storage->data, levels);
  } else {
    texture_->levels = {{storage->data + offset, bytesPerRow, bytesPerRow * d.height}};
  }
  [self take:std::move(storage) options:d.resourceOptions];
  return self;
}
- (void)dealloc {
  delete texture_;
  [descriptor_ release];
  [super dealloc];
}
- (MTLTextureType)textureType {
  return descriptor_.textureType;
}
- (MTLPixelFormat)pixelFormat {
  return descriptor_.pixelFormat;
}
- (NSUInteger)width {
  return descriptor_.width;
}
- (NSUInteger)height {
  return descriptor_.height;
}
- (NSUInteger)depth {
  return descriptor_.depth;
}
- (NSUInteger)arrayLength {
  return descriptor_.arrayLength;
}
- (NSUInteger)mipmapLevelCount {
  return descriptor_.mipmapLevelCount;
}
- (NSUInteger)sampleCount {
  return descriptor_.sampleCount;
}
- (MTLTextureUsage)usage {
  return descriptor_.usage;
}
@end
