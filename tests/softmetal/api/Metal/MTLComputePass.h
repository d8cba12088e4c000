#pragma once

#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCounters.h>

NS_ASSUME_NONNULL_BEGIN

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying> {
  id<MTLCounterSampleBuffer> buffer_;
  NSUInteger start_, end_;
}
@property(nullable, nonatomic, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property(nonatomic) NSUInteger startOfEncoderSampleIndex;
@property(nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject {
  NSMutableArray* attachments_;
}
- (MTLComputePassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:
    (NSUInteger)attachmentIndex;
- (void)setObject:(nullable MTLComputePassSampleBufferAttachmentDescriptor*)attachment
    atIndexedSubscript:(NSUInteger)attachmentIndex;
@end

@interface MTLComputePassDescriptor : NSObject <NSCopying> {
  MTLDispatchType type_;
  MTLComputePassSampleBufferAttachmentDescriptorArray* attachments_;
}
+ (MTLComputePassDescriptor*)computePassDescriptor;
@property(nonatomic) MTLDispatchType dispatchType;
@property(readonly) MTLComputePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments;
@end

NS_ASSUME_NONNULL_END
