#pragma once

#import <Metal/MTLResource.h>

@protocol MTLIndirectComputeCommand;

NS_ASSUME_NONNULL_BEGIN

typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
  MTLIndirectCommandTypeDraw = 1 << 0,
  MTLIndirectCommandTypeDrawIndexed = 1 << 1,
  MTLIndirectCommandTypeDrawPatches = 1 << 2,
  MTLIndirectCommandTypeDrawIndexedPatches = 1 << 3,
  MTLIndirectCommandTypeConcurrentDispatch = 1 << 5,
  MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6,
};

@interface MTLIndirectCommandBufferDescriptor : NSObject <NSCopying> {
  MTLIndirectCommandType types_;
  BOOL inherits_pipeline_, inherits_buffers_;
  NSUInteger buffers_;
}
@property(readwrite, nonatomic) MTLIndirectCommandType commandTypes;
@property(readwrite, nonatomic) BOOL inheritPipelineState;
@property(readwrite, nonatomic) BOOL inheritBuffers;
@property(readwrite, nonatomic) NSUInteger maxKernelBufferBindCount;
@end

@protocol MTLIndirectCommandBuffer <MTLResource>
@property(readonly) NSUInteger size;
- (void)resetWithRange:(NSRange)range;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)commandIndex;
@end

NS_ASSUME_NONNULL_END
