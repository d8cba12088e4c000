#import <Metal/Metal.h>

#include "tests/softmetal/api/classes/models.h"

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

@implementation MTLIndirectCommandBufferDescriptor
@synthesize commandTypes = types_, inheritPipelineState = inherits_pipeline_,
            inheritBuffers = inherits_buffers_, maxKernelBufferBindCount = buffers_;
- (instancetype)init {
  self = [super init];
  inherits_pipeline_ = inherits_buffers_ = YES;
  buffers_ = softmetal::kBufferSlots;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  MTLIndirectCommandBufferDescriptor* d =
      [[MTLIndirectCommandBufferDescriptor allocWithZone:zone] init];
  d.commandTypes = types_;
  d.inheritPipelineState = inherits_pipeline_;
  d.inheritBuffers = inherits_buffers_;
  d.maxKernelBufferBindCount = buffers_;
  return d;
}
@end
