// The submissions of one run, in order on one queue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/hal/queue.h"
#include "runtime/hal/semaphore.h"
#include "support/status.h"

namespace texloom::runtime {

// Every submission begins after the run's waits. The last submission signals the run's signals,
// which fail if any submission fails. Used by one thread at a time.
class SubmissionChain {
 public:
  SubmissionChain(hal::Queue& queue, std::vector<hal::TimelinePoint> waits,
                  std::vector<hal::TimelinePoint> signals);

  // Submits commands that more commands of the run will follow, with `signals` of their own.
  Status submit(std::vector<hal::SubmittedCommands> commands,
                std::vector<hal::TimelinePoint> signals = {});
  // Submits the last commands of the run, possibly none; `is_awaited` is that of hal::Submission.
  Status finish(std::vector<hal::SubmittedCommands> commands, bool is_awaited = false);
  // Ends a run that cannot be finished. If something has been submitted, the signals fail, since
  // nothing else will signal them; otherwise they are left alone.
  void abandon(const Status& reason);

 private:
  hal::Queue& queue_;
  std::vector<hal::TimelinePoint> waits_, signals_;
  // Signaled by each submission except the last; fails if one of them fails. Null without signals.
  std::shared_ptr<hal::Semaphore> parts_;
  std::uint64_t submitted_ = 0;  // the value that parts_ will reach
};

}  // namespace texloom::runtime
