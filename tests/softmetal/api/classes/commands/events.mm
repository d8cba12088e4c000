#include "tests/softmetal/api/classes/commands/events.h"

#include <objc/blocks_runtime.h>

#include <algorithm>

using softmetal::EventState;
using softmetal::PassSet;
using softmetal::report_misuse;

namespace softmetal {
namespace {
// The limit of an event's distinct signals; older ones are merged.
constexpr size_t kMostSignals = 64;
}  // namespace

uint64_t EventState::value() {
  const std::lock_guard lock(mutex_);
  host_has_seen(done_at(value_));
  return value_;
}

PassSet EventState::done_at(uint64_t value) const {
  for (const auto& [signaled, done] : signals_) {
    if (signaled >= value) return done;
  }
  return {};
}

bool EventState::signal(uint64_t value, const PassSet& done, id<MTLSharedEvent> event) {
  std::vector<Waiting> ready;
  PassSet known;
  {
    const std::lock_guard lock(mutex_);
    if (value < value_) return false;
    value_ = value;
    // A wait for this value includes the passes of smaller values.
    known = done;
    if (!signals_.empty()) known.join(signals_.back().second);
    signals_.emplace_back(value, known);
    if (signals_.size() > kMostSignals) signals_.erase(signals_.begin());
    const auto rest = std::stable_partition(waiting_.begin(), waiting_.end(),
                                            [&](const Waiting& w) { return w.value > value; });
    ready.assign(rest, waiting_.end());
    waiting_.erase(rest, waiting_.end());
    changed_.notify_all();
  }
  for (const Waiting& waiting : ready) run(waiting, event, known, value);
  return true;
}

PassSet EventState::wait(uint64_t value) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return value_ >= value; });
  return done_at(value);
}

bool EventState::wait_for(uint64_t value, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const bool reached = changed_.wait_for(lock, time, [&] { return value_ >= value; });
  if (reached) host_has_seen(done_at(value));
  return reached;
}

void EventState::run(const Waiting& waiting, id<MTLSharedEvent> event, const PassSet& done,
                     uint64_t value) {
  // Dispatch queues take blocks, not lambdas, and blocks copy the variables that they use.
  const MTLSharedEventNotificationBlock block = waiting.block;
  const PassSet seen = done;
  [event retain];
  dispatch_async(waiting.queue, ^{
    NSAutoreleasePool* const pool = [NSAutoreleasePool new];
    host_has_seen(seen);
    block(event, value);
    _Block_release((const void*)block);
    [event release];
    [pool drain];
  });
  dispatch_release(waiting.queue);
}

void EventState::notify(dispatch_queue_t queue, uint64_t value,
                        MTLSharedEventNotificationBlock block, id<MTLSharedEvent> event) {
  dispatch_retain(queue);
  const Waiting waiting{queue, value,
                        (MTLSharedEventNotificationBlock)_Block_copy((const void*)block)};
  PassSet done;
  uint64_t now = 0;
  {
    const std::lock_guard lock(mutex_);
    if (value_ < value) {
      waiting_.push_back(waiting);
      return;
    }
    done = done_at(value);
    now = value_;
  }
  run(waiting, event, done, now);
}

EventState::~EventState() {
  for (const Waiting& waiting : waiting_) {
    _Block_release((const void*)waiting.block);
    dispatch_release(waiting.queue);
  }
}

}  // namespace softmetal

@implementation SMFence
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super initWithDevice:device kind:"fence"];
  fence_ = new std::shared_ptr<softmetal::FenceState>(new softmetal::FenceState);
  return self;
}
- (void)dealloc {
  delete fence_;
  [super dealloc];
}
@end

@implementation SMEvent
- (instancetype)initWithDevice:(id<MTLDevice>)device kind:(const char*)kind {
  self = [super initWithDevice:device kind:kind];
  event_ = new std::shared_ptr<EventState>(new EventState);
  return self;
}
- (void)dealloc {
  delete event_;
  [super dealloc];
}
@end

@implementation SMSharedEvent
- (uint64_t)signaledValue {
  return (*event_)->value();
}
- (void)setSignaledValue:(uint64_t)value {
  const uint64_t before = (*event_)->value();
  if (!(*event_)->signal(value, softmetal::seen_by_host(), self)) {
    report_misuse("signaledValue: the value of an event must not go backwards, from " +
                  std::to_string(before) + " to " + std::to_string(value));
  }
}
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  return (*event_)->wait_for(value, std::chrono::milliseconds(milliseconds));
}
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  if (listener == nil || block == nil) {
    report_misuse("notifyListener: the listener and the block must not be nil");
    return;
  }
  (*event_)->notify([listener dispatchQueue], value, block, self);
}
- (MTLSharedEventHandle*)newSharedEventHandle {
  MTLSharedEventHandle* const handle = [MTLSharedEventHandle new];
  handle->event_ = [self retain];
  return handle;
}
@end

@implementation MTLSharedEventHandle
- (NSString*)label {
  return [event_ label];
}
- (void)dealloc {
  [event_ release];
  [super dealloc];
}
@end

namespace softmetal {
id<MTLSharedEvent> new_event_of(MTLSharedEventHandle* handle, id<MTLDevice> device) {
  if (handle == nil) {
    report_misuse("newSharedEventWithHandle: the handle must not be nil");
    return nil;
  }
  SMSharedEvent* const event = [[SMSharedEvent alloc] initWithDevice:device kind:"shared event"];
  *event->event_ = *((SMSharedEvent*)handle->event_)->event_;
  return event;
}
}  // namespace softmetal

@implementation MTLSharedEventListener
+ (MTLSharedEventListener*)sharedListener {
  static MTLSharedEventListener* const listener = [MTLSharedEventListener new];
  return listener;
}
- (instancetype)init {
  const dispatch_queue_t queue = dispatch_queue_create("listener", DISPATCH_QUEUE_SERIAL);
  self = [self initWithDispatchQueue:queue];
  dispatch_release(queue);
  return self;
}
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue {
  self = [super init];
  dispatch_retain(queue);
  queue_ = queue;
  return self;
}
- (void)dealloc {
  dispatch_release(queue_);
  [super dealloc];
}
- (dispatch_queue_t)dispatchQueue {
  return queue_;
}
@end
