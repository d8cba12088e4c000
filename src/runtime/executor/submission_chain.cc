#include "runtime/executor/submission_chain.h"

#include <utility>

namespace texloom::runtime {

SubmissionChain::SubmissionChain(hal::Queue& queue, std::vector<hal::TimelinePoint> waits,
                                 std::vector<hal::TimelinePoint> signals)
    : queue_(queue), waits_(std::move(waits)), signals_(std::move(signals)) {
  if (!signals_.empty()) parts_ = hal::Semaphore::create();
}

Status SubmissionChain::submit(std::vector<hal::SubmittedCommands> commands,
                               std::vector<hal::TimelinePoint> signals) {
  if (parts_ != nullptr) signals.push_back({parts_, ++submitted_});
  return queue_.submit({waits_, std::move(commands), std::move(signals)});
}

Status SubmissionChain::finish(std::vector<hal::SubmittedCommands> commands, bool is_awaited) {
  if (commands.empty() && signals_.empty()) return {};
  std::vector<hal::TimelinePoint> waits = waits_;
  if (submitted_ != 0) waits.push_back({parts_, submitted_});
  return queue_.submit({std::move(waits), std::move(commands), signals_, is_awaited});
}

void SubmissionChain::abandon(const Status& reason) {
  if (submitted_ == 0) return;
  // A semaphore that has failed already keeps its first error.
  for (const hal::TimelinePoint& point : signals_) static_cast<void>(point.semaphore->fail(reason));
}

}  // namespace texloom::runtime
