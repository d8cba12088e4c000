#pragma once

#import <Metal/MTLResource.h>

@class MTLTextureDescriptor;
@protocol MTLTexture;

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
- (void*)contents NS_RETURNS_INNER_POINTER;
- (void)didModifyRange:(NSRange)range API_UNAVAILABLE(ios);
- (nullable id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                             offset:(NSUInteger)offset
                                        bytesPerRow:(NSUInteger)bytesPerRow;
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
@property(nullable, readonly) id<MTLBuffer> remoteStorageBuffer;
- (nullable id<MTLBuffer>)newRemoteBufferViewForDevice:(id<MTLDevice>)device;
@property(readonly) uint64_t gpuAddress;
@end

NS_ASSUME_NONNULL_END
