// Runs a launch plan on one device.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/aliases.h"
#include "runtime/commit_policy.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/kernels/kernel_builds.h"
#include "runtime/kernels/plan_kernels.h"
#include "runtime/launch_plan.h"
#include "runtime/workspace.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

class FirstRuns;

// The values of the plan's symbols (see bind_symbols) and of its scalars for one run.
struct RunValues {
  std::span<const std::int64_t> symbols = {};
  std::span<const hal::Constant> scalars = {};
};

// One argument of a run: a buffer with a byte offset, or a texture with the origin of the tensor.
using TensorBinding = hal::Binding;

// Keeps the executables of a plan for all runs on one device. Temporaries are in memory that the
// device's workspace pool lends while a run is recorded: all programs of a device share that
// memory, and consecutive runs allocate no more. Thread safe. May be released before its runs are
// complete.
class PlanExecutor {
 public:
  ~PlanExecutor();
  PlanExecutor(const PlanExecutor&) = delete;
  PlanExecutor& operator=(const PlanExecutor&) = delete;

  // Builds every kernel, several at a time, and, unless their sizes depend on the call, allocates
  // the temporaries in the pool, so that errors occur early: those of validate(), of
  // Device::create_executable (with the build log) and of WorkspacePool::acquire. `goes_on` is that
  // of build_side_by_side(): Cancelled if it returns false.
  static Result<std::shared_ptr<PlanExecutor>> create(
      std::shared_ptr<hal::Device> device, LaunchPlan plan,
      FunctionRef<bool(const KernelProgress&)> goes_on, const CommitPolicy& policy = {});
  static Result<std::shared_ptr<PlanExecutor>> create(std::shared_ptr<hal::Device> device,
                                                      LaunchPlan plan,
                                                      const CommitPolicy& policy = {}) {
    return create(
        std::move(device), std::move(plan), [](const KernelProgress&) { return true; }, policy);
  }

  // Submits the plan's launches `times` times to the device's queue, in submissions as long and as
  // far ahead of the device as the policy says, with nothing of other runs in between. If runs come
  // faster than the device executes them, they wait for the policy's backlog; the first error
  // of earlier work that is complete by then is returned. `interrupted` is called after each
  // submission and while waiting: if it returns true, the rest is not submitted, and there is no
  // error. `arguments` are the plan's arguments in order; the run keeps them alive.
  //
  // InvalidArgument, naming the argument or the scalar: a wrong count, kind, type, format or
  // device; a tensor that is partly outside its buffer or texture; an origin or offset that a
  // kernel does not support; two arguments that share memory, one of which is written.
  // LimitExceeded: a run of more than kMaxLaunches. In these cases nothing has been submitted.
  Status run(std::span<const TensorBinding> arguments, const RunValues& values, int times,
             FunctionRef<bool()> interrupted);
  Status run(std::span<const TensorBinding> arguments, const RunValues& values = {},
             int times = 1) {
    return run(arguments, values, times, [] { return false; });
  }

  // On a device that compiles kernels when they first run: how far the first runs of the kernels
  // launched so far are; `current` is a kernel of the plan. Nullopt if all of them are complete, or
  // failed, and on other devices.
  std::optional<KernelProgress> first_runs() const;

  // Finds two arguments that run() would refuse although each is valid by itself.
  Result<std::optional<Alias>> find_alias(std::span<const TensorBinding> arguments,
                                          std::span<const std::int64_t> symbols = {});

  const LaunchPlan& plan() const { return plan_; }
  const std::shared_ptr<hal::Device>& device() const { return device_; }

 private:
  // The plan with the sizes of one call, and how its temporaries share memory.
  struct Instance {
    std::vector<std::int64_t> symbols;
    LaunchPlan plan;
    WorkspacePlan workspace;
  };
  Result<Workspace> acquire_workspace(const Instance& instance);
  Result<std::shared_ptr<const Instance>> instance(std::span<const std::int64_t> symbols);

  PlanExecutor(std::shared_ptr<hal::Device> device, LaunchPlan plan, const CommitPolicy& policy);

  std::shared_ptr<hal::Device> device_;
  LaunchPlan plan_;
  CommitPolicy policy_;
  std::vector<bool> written_;  // by argument
  PlanKernels kernels_;
  std::unique_ptr<FirstRuns> first_runs_;  // null if first runs are like any other
  std::mutex running_;                     // held from the first submission of a run to its last
  std::mutex mutex_;
  std::shared_ptr<const Instance> latest_;  // guarded by mutex_; null before the first
};

}  // namespace texloom::runtime
