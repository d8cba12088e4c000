#import <Metal/Metal.h>

#include "tests/softmetal/api/classes/resources/resources.h"

@implementation MTLTextureDescriptor
@synthesize textureType = textureType_, pixelFormat = pixelFormat_, width = width_,
            height = height_, depth = depth_, mipmapLevelCount = levels_, sampleCount = samples_,
            arrayLength = layers_, resourceOptions = options_, usage = usage_,
            allowGPUOptimizedContents = optimized_, swizzle = swizzle_;
+ (MTLTextureDescriptor*)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                      width:(NSUInteger)width
                                                     height:(NSUInteger)height
                                                  mipmapped:(BOOL)mipmapped {
  MTLTextureDescriptor* d = [[MTLTextureDescriptor new] autorelease];
  d.pixelFormat = pixelFormat;
  d.width = width;
  d.height = height;
  if (mipmapped) {
    for (NSUInteger size = width > height ? width : height; size > 1; size /= 2) {
      d.mipmapLevelCount += 1;
    }
  }
  return d;
}
+ (MTLTextureDescriptor*)textureCubeDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                         size:(NSUInteger)size
                                                    mipmapped:(BOOL)mipmapped {
  MTLTextureDescriptor* d = [self texture2DDescriptorWithPixelFormat:pixelFormat
                                                               width:size
                                                              height:size
                                                           mipmapped:mipmapped];
  d.textureType = MTLTextureTypeCube;
  return d;
}
+ (MTLTextureDescriptor*)textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                          width:(NSUInteger)width
                                                resourceOptions:(MTLResourceOptions)options
                                                          usage:(MTLTextureUsage)usage {
  MTLTextureDescriptor* d = [self texture2DDescriptorWithPixelFormat:pixelFormat
                                                               width:width
                                                              height:1
                                                           mipmapped:NO];
  d.textureType = MTLTextureTypeTextureBuffer;
  d.resourceOptions = options;
  d.usage = usage;
  return d;
}
- (instancetype)init {
  self = [super init];
  textureType_ = MTLTextureType2D;
  pixelFormat_ = MTLPixelFormatRGBA8Unorm;
  width_ = height_ = depth_ = levels_ = samples_ = layers_ = 1;
  usage_ = MTLTextureUsageShaderRead;
  optimized_ = YES;
  return self;
}
- (MTLStorageMode)storageMode {
  return softmetal::storage_mode(options_);
}
- (void)setStorageMode:(MTLStorageMode)mode {
  options_ = (options_ & ~MTLResourceStorageModeMask) | mode << MTLResourceStorageModeShift;
}
- (MTLCPUCacheMode)cpuCacheMode {
  return softmetal::cache_mode(options_);
}
- (void)setCpuCacheMode:(MTLCPUCacheMode)mode {
  options_ = (options_ & ~MTLResourceCPUCacheModeMask) | mode;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return softmetal::tracking_mode(options_);
}
- (void)setHazardTrackingMode:(MTLHazardTrackingMode)mode {
  options_ =
      (options_ & ~MTLResourceHazardTrackingModeMask) | mode << MTLResourceHazardTrackingModeShift;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLTextureDescriptor* d = [[MTLTextureDescriptor allocWithZone:zone] init];
  d.textureType = textureType_;
  d.pixelFormat = pixelFormat_;
  d.width = width_;
  d.height = height_;
  d.depth = depth_;
  d.mipmapLevelCount = levels_;
  d.sampleCount = samples_;
  d.arrayLength = layers_;
  d.resourceOptions = options_;
  d.usage = usage_;
  d.allowGPUOptimizedContents = optimized_;
  d.swizzle = swizzle_;
  return d;
}
@end

@implementation MTLHeapDescriptor
@synthesize size = size_, resourceOptions = options_, type = type_;
- (instancetype)init {
  self = [super init];
  options_ = MTLResourceStorageModePrivate;
  return self;
}
- (MTLStorageMode)storageMode {
  return softmetal::storage_mode(options_);
}
- (void)setStorageMode:(MTLStorageMode)mode {
  options_ = (options_ & ~MTLResourceStorageModeMask) | mode << MTLResourceStorageModeShift;
}
- (MTLCPUCacheMode)cpuCacheMode {
  return softmetal::cache_mode(options_);
}
- (void)setCpuCacheMode:(MTLCPUCacheMode)mode {
  options_ = (options_ & ~MTLResourceCPUCacheModeMask) | mode;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return softmetal::tracking_mode(options_);
}
- (void)setHazardTrackingMode:(MTLHazardTrackingMode)mode {
  options_ =
      (options_ & ~MTLResourceHazardTrackingModeMask) | mode << MTLResourceHazardTrackingModeShift;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLHeapDescriptor* d = [[MTLHeapDescriptor allocWithZone:zone] init];
  d.size = size_;
  d.resourceOptions = options_;
  d.type = type_;
  return d;
}
@end

@implementation MTLSamplerDescriptor
@synthesize minFilter = min_, magFilter = mag_, mipFilter = mip_, sAddressMode = s_,
            tAddressMode = t_, rAddressMode = r_, borderColor = border_,
            normalizedCoordinates = normalized_, supportArgumentBuffers = argument_buffers_,
            label = label_;
- (instancetype)init {
  self = [super init];
  normalized_ = YES;
  return self;
}
- (void)dealloc {
  [label_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLSamplerDescriptor* d = [[MTLSamplerDescriptor allocWithZone:zone] init];
  d.minFilter = min_;
  d.magFilter = mag_;
  d.mipFilter = mip_;
  d.sAddressMode = s_;
  d.tAddressMode = t_;
  d.rAddressMode = r_;
  d.borderColor = border_;
  d.normalizedCoordinates = normalized_;
  d.supportArgumentBuffers = argument_buffers_;
  d.label = label_;
  return d;
}
@end
