#import <Metal/Metal.h>

#include "tests/softmetal/api/classes/models.h"

// The attachments of compute and of blit passes differ only in their names.
#define SAMPLE_ATTACHMENTS(ATTACHMENT, ARRAY)                                                 \
  @implementation ATTACHMENT                                                                  \
  @synthesize sampleBuffer = buffer_, startOfEncoderSampleIndex = start_,                     \
              endOfEncoderSampleIndex = end_;                                                 \
  -(instancetype)init {                                                                       \
    self = [super init];                                                                      \
    start_ = end_ = MTLCounterDontSample;                                                     \
    return self;                                                                              \
  }                                                                                           \
  -(void)dealloc {                                                                            \
    [buffer_ release];                                                                        \
    [super dealloc];                                                                          \
  }                                                                                           \
  -(id)copyWithZone : (NSZone*)zone {                                                         \
    ATTACHMENT* a = [[ATTACHMENT allocWithZone:zone] init];                                   \
    a.sampleBuffer = buffer_;                                                                 \
    a.startOfEncoderSampleIndex = start_;                                                     \
    a.endOfEncoderSampleIndex = end_;                                                         \
    return a;                                                                                 \
  }                                                                                           \
  @end                                                                                        \
  @implementation ARRAY                                                                       \
  -(instancetype)init {                                                                       \
    self = [super init];                                                                      \
    attachments_ = [NSMutableArray new];                                                      \
    for (size_t i = 0; i < softmetal::kPassSampleBuffers; ++i)                                \
      [attachments_ addObject:[[ATTACHMENT new] autorelease]];                                \
    return self;                                                                              \
  }                                                                                           \
  -(void)dealloc {                                                                            \
    [attachments_ release];                                                                   \
    [super dealloc];                                                                          \
  }                                                                                           \
  -(ATTACHMENT*)objectAtIndexedSubscript : (NSUInteger)index {                                \
    return [attachments_ objectAtIndex:index];                                                \
  }                                                                                           \
  -(void)setObject : (ATTACHMENT*)attachment atIndexedSubscript : (NSUInteger)index {         \
    ATTACHMENT* const made =                                                                  \
        attachment != nil ? [[attachment copy] autorelease] : [[ATTACHMENT new] autorelease]; \
    [attachments_ replaceObjectAtIndex:index withObject:made];                                \
  }                                                                                           \
  @end

SAMPLE_ATTACHMENTS(MTLComputePassSampleBufferAttachmentDescriptor,
                   MTLComputePassSampleBufferAttachmentDescriptorArray)
SAMPLE_ATTACHMENTS(MTLBlitPassSampleBufferAttachmentDescriptor,
                   MTLBlitPassSampleBufferAttachmentDescriptorArray)

namespace {

template <typename Attachments>
void copy_attachments(Attachments* from, Attachments* to) {
  for (NSUInteger i = 0; i < softmetal::kPassSampleBuffers; ++i)
    [to setObject:[from objectAtIndexedSubscript:i] atIndexedSubscript:i];
}

}  // namespace

@implementation MTLComputePassDescriptor
@synthesize dispatchType = type_;
+ (MTLComputePassDescriptor*)computePassDescriptor {
  return [[MTLComputePassDescriptor new] autorelease];
}
- (instancetype)init {
  self = [super init];
  attachments_ = [MTLComputePassSampleBufferAttachmentDescriptorArray new];
  return self;
}
- (void)dealloc {
  [attachments_ release];
  [super dealloc];
}
- (MTLComputePassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  return attachments_;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLComputePassDescriptor* d = [[MTLComputePassDescriptor allocWithZone:zone] init];
  d.dispatchType = type_;
  copy_attachments(attachments_, d.sampleBufferAttachments);
  return d;
}
@end

@implementation MTLBlitPassDescriptor
+ (MTLBlitPassDescriptor*)blitPassDescriptor {
  return [[MTLBlitPassDescriptor new] autorelease];
}
- (instancetype)init {
  self = [super init];
  attachments_ = [MTLBlitPassSampleBufferAttachmentDescriptorArray new];
  return self;
}
- (void)dealloc {
  [attachments_ release];
  [super dealloc];
}
- (MTLBlitPassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  return attachments_;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLBlitPassDescriptor* d = [[MTLBlitPassDescriptor allocWithZone:zone] init];
  copy_attachments(attachments_, d.sampleBufferAttachments);
  return d;
}
@end
