#pragma once

#import <Metal/MTLBuffer.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTLHeapType) {
  MTLHeapTypeAutomatic = 0,
  MTLHeapTypePlacement = 1,
  MTLHeapTypeSparse = 2,
};

@interface MTLHeapDescriptor : NSObject <NSCopying> {
  NSUInteger size_;
  MTLResourceOptions options_;
  MTLHeapType type_;
}
@property(readwrite, nonatomic) NSUInteger size;
@property(readwrite, nonatomic) MTLStorageMode storageMode;
@property(readwrite, nonatomic) MTLCPUCacheMode cpuCacheMode;
@property(readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property(readwrite, nonatomic) MTLResourceOptions resourceOptions;
@property(readwrite, nonatomic) MTLHeapType type;
@end

@protocol MTLHeap <MTLAllocation>
@property(nullable, copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
@property(readonly) MTLResourceOptions resourceOptions;
@property(readonly) NSUInteger size;
@property(readonly) NSUInteger usedSize;
@property(readonly) NSUInteger currentAllocatedSize;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                                      options:(MTLResourceOptions)options;
- (nullable id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@property(readonly) MTLHeapType type;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                                      options:(MTLResourceOptions)options
                                       offset:(NSUInteger)offset;
- (nullable id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                             offset:(NSUInteger)offset;
@end

NS_ASSUME_NONNULL_END
