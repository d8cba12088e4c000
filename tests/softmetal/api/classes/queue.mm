#include "tests/softmetal/api/classes/commands.h"
#include "tests/softmetal/api/classes/faults.h"

struct SMQueueState {
  std::mutex mutex;
  dispatch_queue_t worker = nullptr;
  std::deque<SMCommandBuffer*> enqueued;  // retained
  softmetal::PassSet done;
};

@implementation SMQueue
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super initWithDevice:device kind:"command queue"];
  queue_ = new SMQueueState;
  queue_->worker = dispatch_queue_create("queue", DISPATCH_QUEUE_SERIAL);
  return self;
}
- (void)dealloc {
  dispatch_release(queue_->worker);
  for (SMCommandBuffer* buffer : queue_->enqueued) [buffer release];
  delete queue_;
  [super dealloc];
}
- (id<MTLCommandBuffer>)commandBufferThatRetains:(BOOL)retains {
  if (softmetal::must_fail("commandBuffer")) return nil;
  return [[[SMCommandBuffer alloc] initWithQueue:self retains:retains] autorelease];
}
- (id<MTLCommandBuffer>)commandBuffer {
  return [self commandBufferThatRetains:YES];
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  return [self commandBufferThatRetains:NO];
}
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor {
  return [self commandBufferThatRetains:descriptor.retainedReferences];
}
- (void)enqueue:(SMCommandBuffer*)buffer {
  const std::lock_guard lock(queue_->mutex);
  queue_->enqueued.push_back([buffer retain]);
}
- (void)runCommitted {
  [self retain];
  dispatch_async(queue_->worker, ^{
    NSAutoreleasePool* const pool = [NSAutoreleasePool new];
    for (;;) {
      SMCommandBuffer* next = nil;
      {
        const std::lock_guard lock(queue_->mutex);
        if (queue_->enqueued.empty()) break;
        next = queue_->enqueued.front();
        if ([next status] < MTLCommandBufferStatusCommitted) break;
        queue_->enqueued.pop_front();
      }
      [next run];
      [next release];
    }
    [pool drain];
    [self release];
  });
}
- (softmetal::PassSet)done {
  const std::lock_guard lock(queue_->mutex);
  return queue_->done;
}
- (void)add:(const softmetal::PassSet&)passes {
  const std::lock_guard lock(queue_->mutex);
  queue_->done.join(passes);
}
@end
