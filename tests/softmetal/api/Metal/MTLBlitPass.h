#pragma once

#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCounters.h>

NS_ASSUME_NONNULL_BEGIN

@interface MTLBlitPassSampleBufferAttachmentDescriptor : NSObject <NSCopying> {
  id<MTLCounterSampleBuffer> buffer_;
  NSUInteger start_, end_;
}
@property(nullable, nonatomic, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property(nonatomic) NSUInteger startOfEncoderSampleIndex;
@property(nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLBlitPassSampleBufferAttachmentDescriptorArray : NSObject {
  NSMutableArray* attachments_;
}
- (MTLBlitPassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:
    (NSUInteger)attachmentIndex;
- (void)setObject:(nullable MTLBlitPassSampleBufferAttachmentDescriptor*)attachment
    atIndexedSubscript:(NSUInteger)attachmentIndex;
@end

@interface MTLBlitPassDescriptor : NSObject <NSCopying> {
  MTLBlitPassSampleBufferAttachmentDescriptorArray* attachments_;
}
+ (MTLBlitPassDescriptor*)blitPassDescriptor;
@property(readonly) MTLBlitPassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments;
@end

NS_ASSUME_NONNULL_END
