// Fences and events. For Objective-C++ sources only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/softmetal/api/classes/checks/hazards.h"
#include "tests/softmetal/api/classes/object.h"

namespace softmetal {

// The passes that were complete at a fence's updates.
struct FenceState {
  std::mutex mutex;
  bool is_updated = false;
  PassSet done;
};

// A monotonic value, and the passes that are complete once it reaches a value.
class EventState {
 public:
  uint64_t value();
  // Returns false, without effect, if the event's value is greater.
  bool signal(uint64_t value, const PassSet& done, id<MTLSharedEvent> event = nil);
  // Returns the passes that are complete once the value is reached. wait_for() returns false after
  // a timeout.
  PassSet wait(uint64_t value);
  bool wait_for(uint64_t value, std::chrono::milliseconds time);
  // Runs the block on the queue once the value is reached.
  void notify(dispatch_queue_t queue, uint64_t value, MTLSharedEventNotificationBlock block,
              id<MTLSharedEvent> event);
  ~EventState();

 private:
  struct Waiting {
    dispatch_queue_t queue;
    uint64_t value;
    MTLSharedEventNotificationBlock block;
  };
  PassSet done_at(uint64_t value) const;  // with the mutex locked
  void run(const Waiting& waiting, id<MTLSharedEvent> event, const PassSet& done, uint64_t value);

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
  std::vector<std::pair<uint64_t, PassSet>> signals_;  // sorted by value; old entries are merged
  std::vector<Waiting> waiting_;
};

// Returns the handle's event. For nil, reports a misuse and returns null.
id<MTLSharedEvent> new_event_of(MTLSharedEventHandle* handle, id<MTLDevice> device);

}  // namespace softmetal

@interface SMFence : SMObject <MTLFence> {
 @public
  std::shared_ptr<softmetal::FenceState>* fence_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
@end

@interface SMEvent : SMObject <MTLEvent> {
 @public
  std::shared_ptr<softmetal::EventState>* event_;
}
@end

@interface SMSharedEvent : SMEvent <MTLSharedEvent>
@end
