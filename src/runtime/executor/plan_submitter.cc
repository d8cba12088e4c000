#include "runtime/executor/plan_submitter.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace texloom::runtime {

PlanSubmitter::PlanSubmitter(RunTarget target, const CommitPolicy& policy, FirstRuns* first_runs,
                             FunctionRef<bool()> interrupted)
    : target_(std::move(target)),
      policy_(policy),
      first_runs_(first_runs),
      interrupted_(interrupted) {
  if (!target_.signals.empty()) parts_ = hal::Semaphore::create();
}

Result<hal::CommandBuffer*> PlanSubmitter::next(std::optional<std::uint32_t> kernel,
                                                std::uint64_t bytes) {
  if (counter_.full()) {
    ++submitted_;
    TL_RETURN_IF_ERROR(submit({{progress_, submitted_}}));
    const std::uint64_t ahead = policy_.wait_each ? 0 : policy_.submissions_ahead;
    if ((ahead != 0 || policy_.wait_each) && submitted_ > ahead)
      TL_RETURN_IF_ERROR(wait_for(submitted_ - ahead));
  }
  if (stopped_) return nullptr;
  TL_RETURN_IF_ERROR(end_first_launch());
  if (commands_ == nullptr)
    commands_ = target_.device.create_command_buffer({.barriers = target_.barriers});
  else if (needs_barrier_)
    TL_RETURN_IF_ERROR(commands_->barrier());
  needs_barrier_ = false;
  if (is_first_run(kernel)) first_ = kernel;
  counter_.add(1, bytes);
  return commands_.get();
}

Status PlanSubmitter::finish() {
  if (counter_.launches() == 0 && target_.signals.empty()) return {};
  return submit(std::exchange(target_.signals, {}));
}

bool PlanSubmitter::is_first_run(std::optional<std::uint32_t> kernel) const {
  return first_runs_ != nullptr && kernel && !first_runs_->was_launched(*kernel) &&
         std::none_of(first_launches_.begin(), first_launches_.end(),
                      [&](const FirstLaunch& each) { return each.kernel == kernel; });
}

Status PlanSubmitter::end_first_launch() {
  if (!first_) return {};
  TL_RETURN_IF_ERROR(commands_->finish());
  first_launches_.push_back(
      {*std::exchange(first_, std::nullopt), std::exchange(commands_, nullptr)});
  return {};
}

Status PlanSubmitter::submit_first_launches() {
  for (FirstLaunch& each : std::exchange(first_launches_, {})) {
    const hal::TimelinePoint point = first_runs_->launch(each.kernel);
    std::vector<hal::TimelinePoint> signals = {point};
    follow(signals);
    const Status status =
        target_.queue.submit({target_.waits, {std::move(each.commands)}, std::move(signals)});
    if (status.ok()) continue;
    static_cast<void>(point.semaphore->fail(status));
    return status;
  }
  return {};
}

// Adds the point by which the run's signals learn of an error.
void PlanSubmitter::follow(std::vector<hal::TimelinePoint>& signals) {
  if (parts_ != nullptr) signals.push_back({parts_, ++parts_submitted_});
}

Status PlanSubmitter::submit(std::vector<hal::TimelinePoint> signals) {
  counter_.commit();
  TL_RETURN_IF_ERROR(end_first_launch());
  TL_RETURN_IF_ERROR(submit_first_launches());
  hal::Submission rest{.waits = target_.waits, .commands = {}, .signals = std::move(signals)};
  if (parts_submitted_ != 0) rest.waits.push_back({parts_, parts_submitted_});
  follow(rest.signals);
  if (commands_ != nullptr) {
    TL_RETURN_IF_ERROR(commands_->finish());
    rest.commands.push_back({std::exchange(commands_, nullptr)});
  }
  if (!rest.commands.empty() || !rest.signals.empty())
    TL_RETURN_IF_ERROR(target_.queue.submit(std::move(rest)));
  stopped_ = interrupted_();
  return {};
}

// Waits until `completed` submissions are complete, or the user interrupts.
Status PlanSubmitter::wait_for(std::uint64_t completed) {
  while (!stopped_) {
    const Status status = progress_->wait(completed, hal::after(std::chrono::milliseconds(10)));
    if (status.code() != StatusCode::DeadlineExceeded) return status;
    stopped_ = interrupted_();
  }
  return {};
}

}  // namespace texloom::runtime
