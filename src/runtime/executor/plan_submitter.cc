#include "runtime/executor/plan_submitter.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace texloom::runtime {

PlanSubmitter::PlanSubmitter(RunTarget target, const CommitPolicy& policy, FirstRuns* first_runs,
                             FunctionRef<bool()> interrupted)
    : device_(target.device),
      barriers_(target.barriers),
      policy_(policy),
      first_runs_(first_runs),
      interrupted_(interrupted),
      chain_(target.queue, std::move(target.waits), std::move(target.signals)) {}

Result<hal::CommandBuffer*> PlanSubmitter::next(std::optional<std::uint32_t> kernel,
                                                std::uint64_t bytes) {
  if (counter_.full(!kernel)) {
    ++submitted_;
    TL_ASSIGN_OR_RETURN(auto commands, end_submission());
    TL_RETURN_IF_ERROR(chain_.submit(std::move(commands), {{progress_, submitted_}}));
    stopped_ = interrupted_();
    const bool waits = policy_.waits != Waits::Never;
    const std::uint64_t ahead = waits ? 0 : policy_.submissions_ahead;
    if ((ahead != 0 || waits) && submitted_ > ahead)
      TL_RETURN_IF_ERROR(wait_for(submitted_ - ahead));
  }
  if (stopped_) return nullptr;
  TL_RETURN_IF_ERROR(end_first_launch());
  if (commands_ == nullptr)
    commands_ = device_.create_command_buffer({.barriers = barriers_});
  else if (needs_barrier_)
    TL_RETURN_IF_ERROR(commands_->barrier());
  needs_barrier_ = false;
  if (is_first_run(kernel)) first_ = kernel;
  counter_.add(1, bytes, !kernel);
  return commands_.get();
}

Status PlanSubmitter::finish() {
  TL_ASSIGN_OR_RETURN(auto commands, end_submission());
  TL_RETURN_IF_ERROR(chain_.finish(std::move(commands)));
  stopped_ = stopped_ || interrupted_();
  return {};
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
    const Status status = chain_.submit({std::move(each.commands)}, {point});
    if (status.ok()) continue;
    static_cast<void>(point.semaphore->fail(status));
    return status;
  }
  return {};
}

Result<std::vector<hal::SubmittedCommands>> PlanSubmitter::end_submission() {
  counter_.commit();
  TL_RETURN_IF_ERROR(end_first_launch());
  TL_RETURN_IF_ERROR(submit_first_launches());
  std::vector<hal::SubmittedCommands> rest;
  if (commands_ != nullptr) {
    TL_RETURN_IF_ERROR(commands_->finish());
    rest.emplace_back(std::exchange(commands_, nullptr));
  }
  return rest;
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
