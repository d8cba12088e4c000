// Fences and events. For Objective-C++ sources alone.
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

// What encoders that update a fence had done.
struct FenceState {
  std::mutex mutex;
  bool is_updated = false;
  PassSet done;
};

// A value that grows, and what is complete when it has a value.
class EventState {
 public:
  uint64_t value();
  // False, and nothing happens, if the event has a greater value.
  bool signal(uint64_t value, const PassSet& done, id<MTLSharedEvent> event = nil);
  // Returns what is complete then. False in `reached`: the time was over.
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
  std::vector<std::pair<uint64_t, PassSet>> signals_;  // by value; old ones are joined
  std::vector<Waiting> waiting_;
};

// Of the handle's event. Null with a misuse reported for nil.
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
