#include "runtime/plan_submitter.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace texloom::runtime {

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
  if (commands_ == nullptr) commands_ = device_.create_command_buffer();
  if (is_first_run(kernel)) first_ = kernel;
  counter_.add(1, bytes);
  return commands_.get();
}

Status PlanSubmitter::finish() { return counter_.launches() == 0 ? Status() : submit({}); }

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
    const Status status = device_.queue()->submit({{}, {std::move(each.commands)}, {point}});
    if (status.ok()) continue;
    static_cast<void>(point.semaphore->fail(status));
    return status;
  }
  return {};
}

Status PlanSubmitter::submit(std::vector<hal::TimelinePoint> signals) {
  counter_.commit();
  TL_RETURN_IF_ERROR(end_first_launch());
  TL_RETURN_IF_ERROR(submit_first_launches());
  hal::Submission rest{.waits = {}, .commands = {}, .signals = std::move(signals)};
  if (commands_ != nullptr) {
    TL_RETURN_IF_ERROR(commands_->finish());
    rest.commands.push_back({std::exchange(commands_, nullptr)});
  }
  if (!rest.commands.empty() || !rest.signals.empty())
    TL_RETURN_IF_ERROR(device_.queue()->submit(std::move(rest)));
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
