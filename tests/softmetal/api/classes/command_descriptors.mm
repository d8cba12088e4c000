#import <Metal/Metal.h>

NSString* const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

@implementation MTLCommandBufferDescriptor
@synthesize retainedReferences = retained_, errorOptions = options_;
- (instancetype)init {
  self = [super init];
  retained_ = YES;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLCommandBufferDescriptor* d = [[MTLCommandBufferDescriptor allocWithZone:zone] init];
  d.retainedReferences = retained_;
  d.errorOptions = options_;
  return d;
}
@end

@implementation MTLComputePassDescriptor
@synthesize dispatchType = type_;
+ (MTLComputePassDescriptor*)computePassDescriptor {
  return [[MTLComputePassDescriptor new] autorelease];
}
// There are no counters to sample.
- (MTLComputePassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  return nil;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLComputePassDescriptor* d = [[MTLComputePassDescriptor allocWithZone:zone] init];
  d.dispatchType = type_;
  return d;
}
@end

@implementation MTLBlitPassDescriptor
+ (MTLBlitPassDescriptor*)blitPassDescriptor {
  return [[MTLBlitPassDescriptor new] autorelease];
}
- (MTLBlitPassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  return nil;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[MTLBlitPassDescriptor allocWithZone:zone] init];
}
@end
