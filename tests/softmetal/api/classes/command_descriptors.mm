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
