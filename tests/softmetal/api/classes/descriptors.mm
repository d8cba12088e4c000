#include "tests/softmetal/api/classes/objects.h"

NSString* const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSString* const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

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
  return static_cast<MTLStorageMode>((options_ & MTLResourceStorageModeMask) >>
                                     MTLResourceStorageModeShift);
}
- (void)setStorageMode:(MTLStorageMode)mode {
  options_ = (options_ & ~MTLResourceStorageModeMask) | mode << MTLResourceStorageModeShift;
}
- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(options_ & MTLResourceCPUCacheModeMask);
}
- (void)setCpuCacheMode:(MTLCPUCacheMode)mode {
  options_ = (options_ & ~MTLResourceCPUCacheModeMask) | mode;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return static_cast<MTLHazardTrackingMode>((options_ & MTLResourceHazardTrackingModeMask) >>
                                            MTLResourceHazardTrackingModeShift);
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

@implementation MTLCompileOptions
@synthesize preprocessorMacros = macros_, fastMathEnabled = fast_, mathMode = mode_,
            mathFloatingPointFunctions = functions_, languageVersion = version_,
            libraryType = type_, installName = name_, preserveInvariance = invariance_,
            optimizationLevel = level_, maxTotalThreadsPerThreadgroup = threads_;
- (instancetype)init {
  self = [super init];
  fast_ = YES;
  mode_ = MTLMathModeFast;
  version_ = MTLLanguageVersion3_2;
  return self;
}
- (void)setFastMathEnabled:(BOOL)fast {
  fast_ = fast;
  mode_ = fast ? MTLMathModeFast : MTLMathModeSafe;
}
- (void)dealloc {
  [macros_ release];
  [name_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLCompileOptions* o = [[MTLCompileOptions allocWithZone:zone] init];
  o.preprocessorMacros = macros_;
  o.fastMathEnabled = fast_;
  o.mathMode = mode_;
  o.mathFloatingPointFunctions = functions_;
  o.languageVersion = version_;
  o.libraryType = type_;
  o.installName = name_;
  o.preserveInvariance = invariance_;
  o.optimizationLevel = level_;
  o.maxTotalThreadsPerThreadgroup = threads_;
  return o;
}
@end
