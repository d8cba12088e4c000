#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/commands.h"

struct SMQueueState {
  std::mutex mutex;
  dispatch_queue_t worker = nullptr;
  std::deque<SMCommandBuffer*> enqueued;  // retained
  softmetal::PassSet done;
  std::set<SMResidencySet*> residency_sets;  // retained
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
  for (SMResidencySet* set : queue_->residency_sets) [set release];
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
- (void)addResidencySet:(id<MTLResidencySet>)set {
  if (!softmetal::may_use(set, device_, "addResidencySet")) return;
  const std::lock_guard lock(queue_->mutex);
  if (queue_->residency_sets.insert((SMResidencySet*)set).second) [set retain];
}
- (void)addResidencySets:(const id<MTLResidencySet>*)sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self addResidencySet:sets[i]];
}
- (void)removeResidencySet:(id<MTLResidencySet>)set {
  const std::lock_guard lock(queue_->mutex);
  if (queue_->residency_sets.erase((SMResidencySet*)set) != 0) [set release];
}
- (void)removeResidencySets:(const id<MTLResidencySet>*)sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self removeResidencySet:sets[i]];
}
- (std::vector<softmetal::Resident>)residents {
  const std::lock_guard lock(queue_->mutex);
  std::vector<softmetal::Resident> all;
  for (SMResidencySet* set : queue_->residency_sets) {
    const auto more = [set residents];
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
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
