#include <algorithm>
#include <cstring>

#include "tests/softmetal/api/classes/device.h"
#include "tests/softmetal/api/classes/resources/resources.h"
#include "tests/softmetal/api/classes/resources/texel_copy.h"

using softmetal::report_misuse;

namespace softmetal {

std::string problem_of(MTLTextureDescriptor* d) {
  if (d == nil) return "the descriptor must not be nil";
  const auto* format = format_info(static_cast<PixelFormat>(d.pixelFormat));
  if (format == nullptr) return "the pixel format is not valid";
  if (d.textureType > MTLTextureTypeTextureBuffer) return "the texture type is not valid";
  if (d.width == 0 || d.height == 0 || d.depth == 0 || d.arrayLength == 0)
    return "extents must not be 0";
  if (d.width > 16384 || d.height > 16384 || d.depth > 2048 || d.arrayLength > 2048)
    return "extents are over the limits of the device (16384, 16384, 2048; 2048 layers)";
  if (d.mipmapLevelCount == 0 ||
      (std::max({d.width, d.height, d.depth}) >> (d.mipmapLevelCount - 1)) == 0)
    return "there must be from 1 level to as many as halve the texture down to 1 texel";
  if (d.storageMode == MTLStorageModeMemoryless)
    return "MTLStorageModeMemoryless is for render targets alone";
  return {};
}

Texture texture_of(MTLTextureDescriptor* d) {
  static constexpr TextureKind kKinds[] = {
      TextureKind::T1d,        TextureKind::T1dArray, TextureKind::T2d,       TextureKind::T2dArray,
      TextureKind::T2dMs,      TextureKind::Cube,     TextureKind::CubeArray, TextureKind::T3d,
      TextureKind::T2dMsArray, TextureKind::Buffer};
  Texture texture;
  texture.kind = kKinds[d.textureType];
  texture.format = static_cast<PixelFormat>(d.pixelFormat);
  texture.width = static_cast<uint32_t>(d.width);
  texture.height = static_cast<uint32_t>(d.height);
  texture.depth = static_cast<uint32_t>(d.depth);
  texture.layers = static_cast<uint32_t>(d.arrayLength);
  texture.samples = static_cast<uint32_t>(d.sampleCount);
  texture.readable = d.usage == MTLTextureUsageUnknown || (d.usage & MTLTextureUsageShaderRead);
  texture.writable = d.usage == MTLTextureUsageUnknown || (d.usage & MTLTextureUsageShaderWrite);
  return texture;
}

}  // namespace softmetal

@implementation SMTexture
+ (SMTexture*)newWithDevice:(id<MTLDevice>)device
                 descriptor:(MTLTextureDescriptor*)descriptor
                    texture:(softmetal::Texture)texture
                       part:(softmetal::Part)part
                       heap:(SMHeap*)heap
                       base:(SMResource*)base {
  SMTexture* const made = [[SMTexture alloc] initWithDevice:device kind:"texture"];
  made->descriptor_ = [descriptor copy];
  made->texture_ = new std::shared_ptr<softmetal::Texture>(
      std::make_shared<softmetal::Texture>(std::move(texture)));
  made->base_ = [base retain];
  const MTLResourceOptions options = base == nil ? descriptor.resourceOptions : base->options_;
  [made takePart:std::move(part) options:options heap:heap];
  return made;
}
- (void)dealloc {
  delete texture_;
  [descriptor_ release];
  [base_ release];
  [super dealloc];
}
- (BOOL)isTracked {
  return base_ == nil ? [super isTracked] : [base_ isTracked];
}
- (id<MTLTexture>)parentTexture {
  return [base_ isKindOfClass:[SMTexture class]] ? (SMTexture*)base_ : nil;
}
- (NSUInteger)parentRelativeLevel {
  return first_level_;
}
- (NSUInteger)parentRelativeSlice {
  return first_slice_;
}
- (id<MTLBuffer>)buffer {
  return [base_ isKindOfClass:[SMBuffer class]] ? (SMBuffer*)base_ : nil;
}
- (NSUInteger)bufferOffset {
  return buffer_offset_;
}
- (NSUInteger)bufferBytesPerRow {
  return bytes_per_row_;
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
- (BOOL)isShareable {
  return NO;
}
- (BOOL)isFramebufferOnly {
  return NO;
}
- (BOOL)allowGPUOptimizedContents {
  return descriptor_.allowGPUOptimizedContents;
}
- (MTLResourceID)gpuResourceID {
  return MTLResourceID{reinterpret_cast<uint64_t>(texture_->get())};
}

// Returns whether the host may copy the region with this row pitch; reports a misuse if not.
- (BOOL)mayCopy:(MTLRegion)region
          level:(NSUInteger)level
          slice:(NSUInteger)slice
    bytesPerRow:(NSUInteger)bytesPerRow
             by:(const char*)call {
  std::string problem;
  if ([self storageMode] == MTLStorageModePrivate) {
    problem = "the host has no access to a texture of MTLStorageModePrivate";
  } else {
    problem = softmetal::problem_of_region(**texture_, region, level, slice);
  }
  const size_t texel = softmetal::format_info((*texture_)->format)->bytes;
  if (problem.empty() && region.size.height > 1 &&
      (bytesPerRow < region.size.width * texel || bytesPerRow % texel != 0)) {
    problem = "bytesPerRow must be a multiple of the texels' size, and not less than a row";
  }
  if (problem.empty()) return YES;
  report_misuse(std::string(call) + ": " + problem);
  return NO;
}
- (void)getBytes:(void*)bytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice {
  if (![self mayCopy:region level:level slice:slice bytesPerRow:bytesPerRow by:"getBytes"]) return;
  const ptrdiff_t to_host = part_->host() - part_->device();
  softmetal::for_each_row(
      **texture_, region, level, slice,
      [&](size_t row, size_t image, uint8_t* texels, size_t size) {
        std::memcpy(static_cast<uint8_t*>(bytes) + row * bytesPerRow + image * bytesPerImage,
                    texels + to_host, size);
      });
}
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage {
  if (![self mayCopy:region level:level slice:slice bytesPerRow:bytesPerRow by:"replaceRegion"])
    return;
  const ptrdiff_t to_host = part_->host() - part_->device();
  // For managed textures, unlike buffers, the write goes to both copies.
  softmetal::for_each_row(**texture_, region, level, slice,
                          [&](size_t row, size_t image, uint8_t* texels, size_t size) {
                            const auto* from = static_cast<const uint8_t*>(bytes) +
                                               row * bytesPerRow + image * bytesPerImage;
                            std::memcpy(texels, from, size);
                            if (to_host != 0) std::memcpy(texels + to_host, from, size);
                          });
}
- (void)getBytes:(void*)bytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level {
  [self getBytes:bytes
        bytesPerRow:bytesPerRow
      bytesPerImage:0
         fromRegion:region
        mipmapLevel:level
              slice:0];
}
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow {
  [self replaceRegion:region
          mipmapLevel:level
                slice:0
            withBytes:bytes
          bytesPerRow:bytesPerRow
        bytesPerImage:0];
}

- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat {
  return [self newTextureViewWithPixelFormat:pixelFormat
                                 textureType:descriptor_.textureType
                                      levels:NSMakeRange(0, [self mipmapLevelCount])
                                      slices:NSMakeRange(0, [self arrayLength])];
}
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat
                                    textureType:(MTLTextureType)textureType
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices {
  const auto* from = softmetal::format_info((*texture_)->format);
  const auto* to = softmetal::format_info(static_cast<softmetal::PixelFormat>(pixelFormat));
  std::string problem;
  if (to == nullptr || to->bytes != from->bytes) {
    problem = "texels of the pixel format must have the same size";
  } else if (to != from && descriptor_.usage != MTLTextureUsageUnknown &&
             (descriptor_.usage & MTLTextureUsagePixelFormatView) == 0) {
    problem = "a view of another pixel format needs MTLTextureUsagePixelFormatView";
  } else if (levels.length == 0 || NSMaxRange(levels) > [self mipmapLevelCount] ||
             slices.length == 0 || NSMaxRange(slices) > [self arrayLength]) {
    problem = "levels and slices must lie in the texture, and not be empty";
  } else if (textureType != descriptor_.textureType &&
             !(textureType == MTLTextureType2D && slices.length == 1 &&
               descriptor_.textureType == MTLTextureType2DArray)) {
    problem = "the texture cannot be viewed as one of this type";
  }
  if (!problem.empty()) {
    report_misuse("newTextureViewWithPixelFormat: " + problem);
    return nil;
  }
  MTLTextureDescriptor* const d = [[descriptor_ copy] autorelease];
  d.textureType = textureType;
  d.pixelFormat = pixelFormat;
  d.width = (*texture_)->width_of(static_cast<uint32_t>(levels.location));
  d.height = (*texture_)->height_of(static_cast<uint32_t>(levels.location));
  d.depth = (*texture_)->depth_of(static_cast<uint32_t>(levels.location));
  d.mipmapLevelCount = levels.length;
  d.arrayLength = slices.length;
  softmetal::Texture texture = softmetal::texture_of(d);
  for (NSUInteger i = levels.location; i < NSMaxRange(levels); ++i) {
    softmetal::Texture::Level level = (*texture_)->levels[i];
    level.data += slices.location * level.bytes_per_image;
    texture.levels.push_back(level);
  }
  SMTexture* const view = [SMTexture newWithDevice:device_
                                        descriptor:d
                                           texture:std::move(texture)
                                              part:*part_
                                              heap:nil
                                              base:self];
  view->first_level_ = levels.location;
  view->first_slice_ = slices.location;
  return view;
}
@end
