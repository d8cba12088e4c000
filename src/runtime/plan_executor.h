// Runs a launch plan on one device.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/aliases.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/launch_plan.h"
#include "runtime/plan_workspace.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// The numbers of a run: of the plan's symbols (bind_symbols) and of its scalars.
struct RunValues {
  std::span<const std::int64_t> symbols = {};
  std::span<const hal::Constant> scalars = {};
};

inline constexpr int kLaunchesPerSubmission = 4096;
// A run with more submissions than these waits for its first ones.
inline constexpr std::uint64_t kSubmissionsAhead = 4;
// A run that leaves a longer backlog waits for the device.
inline constexpr std::uint64_t kMaxBacklog = 256;

// One argument of a run: a buffer with a byte offset, or a texture with the origin of the tensor.
using TensorBinding = hal::Binding;

// Keeps the device's executables for all its runs. The temporaries are in memory of the device's
// workspace pool, which lends it while a run is recorded: all programs of a device share it, and
// consecutive runs need no more from the driver. Thread safe. May be released while its runs are
// still under way.
class PlanExecutor {
 public:
  // Builds every kernel, and has the pool allocate the temporaries unless their sizes depend on the
  // call, so that errors occur here: those of validate(), of Device::create_executable (with the
  // build log) and of WorkspacePool::acquire.
  static Result<std::shared_ptr<PlanExecutor>> create(std::shared_ptr<hal::Device> device,
                                                      LaunchPlan plan);

  // Submits the plan's launches, `times` over, on the device's queue, and is never more than
  // kSubmissionsAhead submissions ahead of the device. They are recorded and submitted
  // kLaunchesPerSubmission at a time, with nothing of other runs in between. If runs come faster
  // than the device works, they wait for it, so that at most kMaxBacklog submissions remain on the
  // queue; the first error of earlier work that is complete by then is returned. `interrupted` is
  // called after each submission and while waiting: if it returns true, the rest is not submitted,
  // and there is no error. The bindings are the plan's arguments in order; the run keeps them.
  // InvalidArgument, naming the argument or the scalar: another count, kind, type, format or
  // device, a tensor that lies partly outside its buffer or texture, an origin or offset that a
  // kernel cannot take, two that share memory which is written. LimitExceeded: a run of more than
  // kMaxLaunches. Then nothing was submitted.
  Status run(std::span<const TensorBinding> arguments, const RunValues& values, int times,
             FunctionRef<bool()> interrupted);
  Status run(std::span<const TensorBinding> arguments, const RunValues& values = {},
             int times = 1) {
    return run(arguments, values, times, [] { return false; });
  }

  // Arguments that run() refuses although each is valid by itself.
  Result<std::optional<Alias>> find_alias(std::span<const TensorBinding> arguments,
                                          std::span<const std::int64_t> symbols = {});

  const LaunchPlan& plan() const { return plan_; }
  const std::shared_ptr<hal::Device>& device() const { return device_; }

 private:
  // The plan with the sizes of one call, and what its temporaries share.
  struct Instance {
    std::vector<std::int64_t> symbols;
    LaunchPlan plan;
    WorkspacePlan workspace;
  };
  Result<Workspace> acquire_workspace(const Instance& instance);
  Result<std::shared_ptr<const Instance>> instance(std::span<const std::int64_t> symbols);

  PlanExecutor(std::shared_ptr<hal::Device> device, LaunchPlan plan)
      : device_(std::move(device)), plan_(std::move(plan)) {}

  std::shared_ptr<hal::Device> device_;
  LaunchPlan plan_;
  std::vector<bool> written_;                                  // by argument
  std::vector<std::shared_ptr<hal::Executable>> executables_;  // by kernel; entry point 0 of each
  std::mutex running_;  // held from the first submission of a run to its last
  std::mutex mutex_;
  std::shared_ptr<const Instance> latest_;  // guarded by mutex_; null before the first
};

}  // namespace texloom::runtime
