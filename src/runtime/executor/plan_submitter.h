// Submits the launches of a plan as they are recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/builds/first_runs.h"
#include "runtime/commit/commit_counter.h"
#include "runtime/commit/policy.h"
#include "runtime/executor/submission_chain.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/device.h"
#include "runtime/hal/queue.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// The queue of a run's launches, and their order relative to other work.
struct RunTarget {
  hal::Device& device;
  hal::Queue& queue;
  hal::Barriers barriers = hal::Barriers::Automatic;  // of the command buffers
  std::vector<hal::TimelinePoint> waits = {};         // awaited before the first launch
  std::vector<hal::TimelinePoint> signals = {};       // signaled after the last launch
};

// Gives the launches of one run to a queue, in submissions as the policy says.
class PlanSubmitter {
 public:
  // `first_runs` is null if the device does not compile kernels at their first runs. `interrupted`
  // is called after each submission and while waiting.
  PlanSubmitter(RunTarget target, const CommitPolicy& policy, FirstRuns* first_runs,
                FunctionRef<bool()> interrupted);

  // Returns the command buffer for the next launch of `kernel`, or for a call if there is no
  // kernel, with arguments of `bytes` bytes; null if the user has interrupted the run. Submits
  // earlier launches if they have reached a limit.
  Result<hal::CommandBuffer*> next(std::optional<std::uint32_t> kernel, std::uint64_t bytes);
  // Makes later launches wait for all earlier ones; needed if barriers are explicit.
  void add_barrier() { needs_barrier_ = true; }
  // Submits the remaining commands.
  Status finish();
  // After an error: see SubmissionChain::abandon.
  void abandon(const Status& reason) { chain_.abandon(reason); }

  bool is_stopped() const { return stopped_; }

 private:
  // Commands up to the first launch of a kernel. The commands form a submission of their own, so
  // that a long wait can be attributed to that kernel.
  struct FirstLaunch {
    std::uint32_t kernel;
    std::shared_ptr<hal::CommandBuffer> commands;
  };

  bool is_first_run(std::optional<std::uint32_t> kernel) const;
  Status end_first_launch();
  Status submit_first_launches();
  // Ends the commands recorded so far, and submits the first launches among them.
  Result<std::vector<hal::SubmittedCommands>> end_submission();
  Status wait_for(std::uint64_t completed);

  hal::Device& device_;
  hal::Barriers barriers_;
  const CommitPolicy policy_;
  FirstRuns* first_runs_;
  FunctionRef<bool()> interrupted_;
  std::shared_ptr<hal::Semaphore> progress_ = hal::Semaphore::create();
  std::uint64_t submitted_ = 0;  // the value that progress_ will reach
  SubmissionChain chain_;
  std::vector<FirstLaunch> first_launches_;       // before `commands_`
  std::shared_ptr<hal::CommandBuffer> commands_;  // null after a submission or a first launch
  std::optional<std::uint32_t> first_;            // the kernel whose first launch ends `commands_`
  CommitCounter counter_{policy_};                // counts launches of the current submission
  bool needs_barrier_ = false;                    // before the next launch
  bool stopped_ = false;
};

}  // namespace texloom::runtime
