#include <objc/blocks_runtime.h>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/capture.h"
#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/commands/indirect_commands.h"

using softmetal::report_misuse;
using softmetal::Run;

struct SMCommandBufferState {
  std::mutex mutex;
  std::condition_variable changed;
  SMQueue* queue = nil;
  SMEncoder* encoder = nil;  // the open encoder
  bool retains = true;
  std::vector<softmetal::Command> commands;
  std::set<id> kept;  // the objects in use, if `retains`
  // The objects that are used but not retained, also those that indirect commands use.
  std::set<std::shared_ptr<softmetal::ObjectState>> needed;
  std::vector<std::pair<std::shared_ptr<softmetal::IndirectCommands>, NSRange>> executed;
  std::set<std::shared_ptr<softmetal::FenceState>> fences;  // that the commands update
  std::vector<MTLCommandBufferHandler> scheduled, completed;
  MTLCommandBufferStatus status = MTLCommandBufferStatusNotEnqueued;
  std::set<SMResidencySet*> residency_sets;    // besides the queue's; kept or needed
  std::vector<softmetal::Resident> residents;  // at the commit
  softmetal::PassSet seen;                     // passes that the host had seen at the commit
  softmetal::PassSet done;
  bool fails = false;  // whether a test makes it fail
  NSError* error = nil;
  int groups = 0;
  double start = 0, end = 0;
};

namespace {

double now() { return static_cast<double>(softmetal::host_time()) * 1e-9; }

void call_all(const std::vector<MTLCommandBufferHandler>& handlers, SMCommandBuffer* buffer) {
  for (const MTLCommandBufferHandler handler : handlers) handler(buffer);
}

}  // namespace

@implementation SMCommandBuffer
- (instancetype)initWithQueue:(SMQueue*)queue retains:(BOOL)retains {
  self = [super initWithDevice:[queue device] kind:"command buffer"];
  buffer_ = new SMCommandBufferState;
  buffer_->queue = [queue retain];
  buffer_->retains = retains;
  return self;
}
- (void)dealloc {
  if (buffer_->encoder != nil)
    report_misuse("dealloc: a command encoder is open; call endEncoding");
  for (id object : buffer_->kept) [object release];
  for (MTLCommandBufferHandler h : buffer_->scheduled) _Block_release((const void*)h);
  for (MTLCommandBufferHandler h : buffer_->completed) _Block_release((const void*)h);
  [buffer_->error release];
  [buffer_->queue release];
  delete buffer_;
  [super dealloc];
}
- (id<MTLCommandQueue>)commandQueue {
  return buffer_->queue;
}
- (BOOL)retainedReferences {
  return buffer_->retains;
}
- (MTLCommandBufferErrorOption)errorOptions {
  return MTLCommandBufferErrorOptionNone;
}
- (MTLCommandBufferStatus)status {
  const std::lock_guard lock(buffer_->mutex);
  if (buffer_->status >= MTLCommandBufferStatusCompleted) softmetal::host_has_seen(buffer_->done);
  return buffer_->status;
}
- (NSError*)error {
  const std::lock_guard lock(buffer_->mutex);
  return buffer_->error;
}
- (CFTimeInterval)GPUStartTime {
  const std::lock_guard lock(buffer_->mutex);
  return buffer_->start;
}
- (CFTimeInterval)GPUEndTime {
  const std::lock_guard lock(buffer_->mutex);
  return buffer_->end;
}
- (CFTimeInterval)kernelStartTime {
  return [self GPUStartTime];
}
- (CFTimeInterval)kernelEndTime {
  return [self GPUEndTime];
}
- (BOOL)isOpen:(const char*)call {
  if ([self status] < MTLCommandBufferStatusCommitted) {
    if (softmetal::is_captured(buffer_->queue)) softmetal::capture(self, call);
    return YES;
  }
  report_misuse(std::string(call) + ": the command buffer was committed before");
  return NO;
}
- (BOOL)mayChange:(const char*)call {
  if (![self isOpen:call]) return NO;
  if (buffer_->encoder == nil) return YES;
  report_misuse(std::string(call) + ": another command encoder is open; call endEncoding first");
  return NO;
}
- (void)pushDebugGroup:(NSString*)name {
  (void)name;
  ++buffer_->groups;
}
- (void)popDebugGroup {
  if (buffer_->groups-- == 0) report_misuse("popDebugGroup: no debug group is open");
}

- (void)record:(softmetal::Command)command {
  buffer_->commands.push_back(std::move(command));
}
- (void)need:(SMObject*)object {
  if (!buffer_->retains) {
    buffer_->needed.insert(*object->state_);
  } else if (buffer_->kept.insert(object).second) {
    [object retain];
  }
}
- (void)updates:(std::shared_ptr<softmetal::FenceState>)fence {
  buffer_->fences.insert(std::move(fence));
}
- (void)executes:(std::shared_ptr<softmetal::IndirectCommands>)commands range:(NSRange)range {
  buffer_->executed.emplace_back(std::move(commands), range);
}
- (void)encoderEnded {
  buffer_->encoder = nil;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [self computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
}
- (BOOL)maySample:(const std::vector<softmetal::PassSamples>&)samples by:(const char*)call {
  const std::string problem = softmetal::problem_of(samples, device_);
  if (!problem.empty()) report_misuse(std::string(call) + ": " + problem);
  return problem.empty();
}
- (id<MTLComputeCommandEncoder>)computeEncoderOfType:(MTLDispatchType)type
                                             samples:(std::vector<softmetal::PassSamples>)samples {
  return (SMComputeEncoder*)(buffer_->encoder = [[[SMComputeEncoder alloc]
                                 initWithBuffer:self
                                           type:type
                                        samples:std::move(samples)] autorelease]);
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:
    (MTLComputePassDescriptor*)descriptor {
  auto samples = softmetal::samples_of(descriptor);
  if (![self mayChange:"computeCommandEncoder"] ||
      ![self maySample:samples by:"computeCommandEncoderWithDescriptor"] ||
      softmetal::must_fail("computeCommandEncoderWithDescriptor:"))
    return nil;
  return [self computeEncoderOfType:descriptor.dispatchType samples:std::move(samples)];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  if (![self mayChange:"computeCommandEncoder"] ||
      softmetal::must_fail("computeCommandEncoderWithDispatchType:"))
    return nil;
  return [self computeEncoderOfType:type samples:{}];
}
- (id<MTLBlitCommandEncoder>)blitEncoderWith:(std::vector<softmetal::PassSamples>)samples {
  return (SMBlitEncoder*)(buffer_->encoder = [[[SMBlitEncoder alloc]
                              initWithBuffer:self
                                     samples:std::move(samples)] autorelease]);
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  if (![self mayChange:"blitCommandEncoder"] || softmetal::must_fail("blitCommandEncoder"))
    return nil;
  return [self blitEncoderWith:{}];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor*)descriptor {
  auto samples = softmetal::samples_of(descriptor);
  if (![self mayChange:"blitCommandEncoder"] ||
      ![self maySample:samples by:"blitCommandEncoderWithDescriptor"] ||
      softmetal::must_fail("blitCommandEncoderWithDescriptor:"))
    return nil;
  return [self blitEncoderWith:std::move(samples)];
}
- (SMEvent*)checked:(id<MTLEvent>)event by:(const char*)call {
  if (![self mayChange:call]) return nil;
  SMEvent* const e = (SMEvent*)event;
  if (e == nil) {
    report_misuse(std::string(call) + ": the event must not be nil");
    return nil;
  }
  if (![e isKindOfClass:[SMSharedEvent class]] && [e device] != device_) {
    report_misuse(std::string(call) + ": the event belongs to another device, and is not shared");
    return nil;
  }
  [self need:e];
  return e;
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  SMEvent* const e = [self checked:event by:"encodeWaitForEvent"];
  if (e == nil) return;
  const std::shared_ptr<softmetal::EventState> state = *e->event_;
  [self record:[=](Run& run) {
    run.known.join(state->wait(value));
    return std::string();
  }];
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  SMEvent* const e = [self checked:event by:"encodeSignalEvent"];
  if (e == nil) return;
  const std::shared_ptr<softmetal::EventState> state = *e->event_;
  const bool is_shared = [e isKindOfClass:[SMSharedEvent class]];
  SMQueue* const queue = buffer_->queue;
  [self record:[=](Run& run) -> std::string {
    // A queue's command buffers complete in order.
    softmetal::PassSet done = [queue done];
    done.join(run.known);
    const uint64_t before = state->value();
    if (state->signal(value, done, is_shared ? (SMSharedEvent*)e : nil)) return {};
    report_misuse("encodeSignalEvent: the value of an event must not go backwards, from " +
                  std::to_string(before) + " to " + std::to_string(value));
    return "an event's value went backwards";
  }];
}
- (void)useResidencySet:(id<MTLResidencySet>)set {
  if (![self isOpen:"useResidencySet"] || !softmetal::may_use(set, device_, "useResidencySet"))
    return;
  buffer_->residency_sets.insert((SMResidencySet*)set);
  [self need:(SMResidencySet*)set];
}
- (void)useResidencySets:(const id<MTLResidencySet>*)sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self useResidencySet:sets[i]];
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  if (![self isOpen:"addScheduledHandler"]) return;
  buffer_->scheduled.push_back((MTLCommandBufferHandler)_Block_copy((const void*)block));
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  if (![self isOpen:"addCompletedHandler"]) return;
  buffer_->completed.push_back((MTLCommandBufferHandler)_Block_copy((const void*)block));
}

- (std::string)runCommands {
  Run run;
  run.queue = buffer_->queue;
  run.known = buffer_->seen;
  run.residents = std::move(buffer_->residents);
  std::string problem = buffer_->fails ? softmetal::kFaultText : "";
  for (const softmetal::Command& command : buffer_->commands) {
    if (problem.empty()) problem = command(run);
  }
  if (!problem.empty()) {
    for (const auto& fence : buffer_->fences) softmetal::update_fence(*fence, run);
    if (run.pass) run.done.add(run.pass->id);
    [buffer_->queue add:run.done];
  }
  const std::lock_guard lock(buffer_->mutex);
  buffer_->done = run.done;
  return problem;
}
- (void)run {
  const double start = now();
  {
    const std::lock_guard lock(buffer_->mutex);
    buffer_->status = MTLCommandBufferStatusScheduled;
    buffer_->changed.notify_all();
  }
  call_all(buffer_->scheduled, self);
  const std::string problem = [self runCommands];
  buffer_->commands.clear();
  for (const auto& object : buffer_->needed) --object->in_flight;
  for (const auto& [commands, range] : buffer_->executed) commands->end(range);
  {
    const std::lock_guard lock(buffer_->mutex);
    buffer_->start = start;
    buffer_->end = now();
    if (!problem.empty()) {
      const MTLCommandBufferError code =
          buffer_->fails ? MTLCommandBufferErrorInternal : MTLCommandBufferErrorPageFault;
      buffer_->error = [softmetal::make_error(MTLCommandBufferErrorDomain, code, problem) retain];
    }
    buffer_->status =
        problem.empty() ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
  }
  call_all(buffer_->completed, self);
  const std::lock_guard lock(buffer_->mutex);
  buffer_->changed.notify_all();
}
- (void)enqueue {
  if (![self isOpen:"enqueue"]) return;
  {
    const std::lock_guard lock(buffer_->mutex);
    if (buffer_->status == MTLCommandBufferStatusEnqueued) return;
    buffer_->status = MTLCommandBufferStatusEnqueued;
  }
  [buffer_->queue enqueue:self];
}
- (void)commit {
  if (![self mayChange:"commit"]) return;
  for (const auto& [commands, range] : buffer_->executed) {
    for (const auto& object : commands->needed_by(range)) buffer_->needed.insert(object);
  }
  for (const auto& object : buffer_->needed) {
    if (object->is_gone)
      return report_misuse("commit: " + object->name +
                           " was deallocated after commands that use it were encoded");
  }
  buffer_->residents = [buffer_->queue residents];
  for (SMResidencySet* set : buffer_->residency_sets) {
    const auto more = [set residents];
    buffer_->residents.insert(buffer_->residents.end(), more.begin(), more.end());
  }
  [self enqueue];
  for (const auto& object : buffer_->needed) ++object->in_flight;
  for (const auto& [commands, range] : buffer_->executed) commands->begin(range);
  {
    const std::lock_guard lock(buffer_->mutex);
    buffer_->fails = softmetal::must_fail("commit");
    buffer_->seen = softmetal::seen_by_host();
    buffer_->status = MTLCommandBufferStatusCommitted;
  }
  [buffer_->queue runCommitted];
}
- (void)waitFor:(MTLCommandBufferStatus)status by:(const char*)call {
  std::unique_lock lock(buffer_->mutex);
  if (buffer_->status < MTLCommandBufferStatusCommitted) {
    lock.unlock();
    report_misuse(std::string(call) + ": the command buffer was not committed");
    return;
  }
  buffer_->changed.wait(lock, [&] { return buffer_->status >= status; });
  if (buffer_->status >= MTLCommandBufferStatusCompleted) softmetal::host_has_seen(buffer_->done);
}
- (void)waitUntilScheduled {
  [self waitFor:MTLCommandBufferStatusScheduled by:"waitUntilScheduled"];
}
- (void)waitUntilCompleted {
  [self waitFor:MTLCommandBufferStatusCompleted by:"waitUntilCompleted"];
}
@end
