#include <objc/blocks_runtime.h>
#include <time.h>

#include <chrono>

#include "tests/softmetal/api/classes/objects.h"

using softmetal::report_misuse;

struct SMEventState {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t value = 0;
};

struct SMCommandBufferState {
  std::mutex mutex;
  std::condition_variable changed;
  SMQueue* queue = nil;
  SMEncoder* encoder = nil;  // the open one
  std::vector<softmetal::Command> commands;
  std::vector<id> retained;
  std::vector<MTLCommandBufferHandler> completed;
  MTLCommandBufferStatus status = MTLCommandBufferStatusNotEnqueued;
  NSError* error = nil;
  double start = 0, end = 0;
};

namespace {
double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
}  // namespace

@implementation SMSharedEvent
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super initWithDevice:device];
  state_ = new SMEventState;
  return self;
}
- (void)dealloc {
  delete state_;
  [super dealloc];
}
- (uint64_t)signaledValue {
  const std::lock_guard lock(state_->mutex);
  return state_->value;
}
- (void)setSignaledValue:(uint64_t)value {
  [self signalValue:value];
}
- (BOOL)signalValue:(uint64_t)value {
  uint64_t before = 0;
  {
    const std::lock_guard lock(state_->mutex);
    before = state_->value;
    if (value >= before) state_->value = value;
    state_->changed.notify_all();
  }
  if (value >= before) return YES;
  report_misuse("signaledValue: the value of an event must not go backwards, from " +
                std::to_string(before) + " to " + std::to_string(value));
  return NO;
}
- (void)waitForValue:(uint64_t)value {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->value >= value; });
}
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                                  [&] { return state_->value >= value; });
}
@end

@implementation SMQueue
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super initWithDevice:device];
  worker_ = dispatch_queue_create("queue", DISPATCH_QUEUE_SERIAL);
  return self;
}
- (void)dealloc {
  dispatch_release(worker_);
  [super dealloc];
}
- (id<MTLCommandBuffer>)commandBuffer {
  SMCommandBuffer* buffer = [[[SMCommandBuffer alloc] initWithDevice:device_] autorelease];
  buffer->state_ = new SMCommandBufferState;
  buffer->state_->queue = [self retain];
  return buffer;
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  return [self commandBuffer];
}
@end

@implementation SMCommandBuffer
- (void)dealloc {
  if (state_->encoder != nil) report_misuse("dealloc: a command encoder is open; call endEncoding");
  for (id object : state_->retained) [object release];
  for (MTLCommandBufferHandler h : state_->completed) _Block_release((const void*)h);
  [state_->error release];
  [state_->queue release];
  delete state_;
  [super dealloc];
}
- (id<MTLCommandQueue>)commandQueue {
  return state_->queue;
}
- (MTLCommandBufferStatus)status {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}
- (NSError*)error {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}
- (CFTimeInterval)GPUStartTime {
  const std::lock_guard lock(state_->mutex);
  return state_->start;
}
- (CFTimeInterval)GPUEndTime {
  const std::lock_guard lock(state_->mutex);
  return state_->end;
}
- (BOOL)mayChange:(const char*)call {
  if ([self status] >= MTLCommandBufferStatusCommitted) {
    report_misuse(std::string(call) + ": the command buffer was committed before");
    return NO;
  }
  if (state_->encoder != nil) {
    report_misuse(std::string(call) + ": another command encoder is open; call endEncoding first");
    return NO;
  }
  return YES;
}
- (void)record:(softmetal::Command)command {
  state_->commands.push_back(std::move(command));
}
- (void)encoderEnded {
  state_->encoder = nil;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [self computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  if (![self mayChange:"computeCommandEncoder"]) return nil;
  SMComputeEncoder* encoder = [[[SMComputeEncoder alloc] initWithBuffer:self] autorelease];
  encoder->type_ = type;
  state_->encoder = encoder;
  return encoder;
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  if (![self mayChange:"blitCommandEncoder"]) return nil;
  SMBlitEncoder* encoder = [[[SMBlitEncoder alloc] initWithBuffer:self] autorelease];
  state_->encoder = encoder;
  return encoder;
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  if (![self mayChange:"encodeWaitForEvent"]) return;
  SMSharedEvent* const e = (SMSharedEvent*)event;
  state_->retained.push_back([e retain]);
  [self record:[=] {
    [e waitForValue:value];
    return std::string();
  }];
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  if (![self mayChange:"encodeSignalEvent"]) return;
  SMSharedEvent* const e = (SMSharedEvent*)event;
  state_->retained.push_back([e retain]);
  [self record:[=] {
    return std::string([e signalValue:value] ? "" : "an event's value went backwards");
  }];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  if ([self status] >= MTLCommandBufferStatusCommitted) {
    report_misuse("addCompletedHandler: the command buffer was committed before");
    return;
  }
  state_->completed.push_back((MTLCommandBufferHandler)_Block_copy((const void*)block));
}
- (void)run {
  const double start = now();
  std::string problem;
  for (const softmetal::Command& command : state_->commands) {
    problem = command();
    if (!problem.empty()) break;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->start = start;
    state_->end = now();
    if (!problem.empty()) {
      state_->error = [softmetal::make_error(MTLCommandBufferErrorDomain,
                                             MTLCommandBufferErrorPageFault, problem) retain];
    }
    state_->status =
        problem.empty() ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
  }
  for (MTLCommandBufferHandler handler : state_->completed) handler(self);
  const std::lock_guard lock(state_->mutex);
  state_->changed.notify_all();
}
- (void)commit {
  if (![self mayChange:"commit"]) return;
  state_->status = MTLCommandBufferStatusCommitted;
  [self retain];
  dispatch_async(state_->queue->worker_, ^{
    NSAutoreleasePool* const pool = [NSAutoreleasePool new];
    [self run];
    [self release];
    [pool drain];
  });
}
- (void)waitUntilCompleted {
  std::unique_lock lock(state_->mutex);
  if (state_->status < MTLCommandBufferStatusCommitted) {
    lock.unlock();
    report_misuse("waitUntilCompleted: the command buffer was not committed");
    return;
  }
  state_->changed.wait(lock, [&] { return state_->status >= MTLCommandBufferStatusCompleted; });
}
@end
