// A launch plan with its executables and constants on one device.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/builds/kernel_builds.h"
#include "runtime/commit/policy.h"
#include "runtime/executor/constant_source.h"
#include "runtime/executor/leased_workspace.h"
#include "runtime/executor/program_constants.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/hal/semaphore.h"
#include "runtime/plan/aliases.h"
#include "runtime/plan/kernels.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/record.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

class FirstRuns;
struct RecordedRun;

struct ProgramOptions {
  std::optional<CommitPolicy> policy = {};  // commit_policy_for() the device if absent
  // Required by plans with constants. Read at the first run, then released.
  std::shared_ptr<ConstantSource> constants = {};
  // Required by plans with calls. Thread safe.
  std::shared_ptr<CallRecorder> calls = {};
  // Whether to refuse a plan that names its barriers if a barrier is missing. The check records the
  // plan once more for each combination of symbol values, with the memory of its temporaries.
  bool checks_barriers = false;
};

// The values of the plan's symbols (see bind_symbols) and of its scalars for one run.
struct RunValues {
  std::span<const std::int64_t> symbols = {};
  std::span<const hal::Constant> scalars = {};
};

struct RunOptions {
  int times = 1;
  std::shared_ptr<hal::Queue> queue = {};  // of the device; null: its default queue
  // The run begins when all `waits` are reached. `signals` are signaled when the run is complete.
  // They fail with the run's error, including the error of a wait.
  std::vector<hal::TimelinePoint> waits = {};
  std::vector<hal::TimelinePoint> signals = {};
  bool is_awaited = false;  // whether the caller waits for the queue next, as in hal::Submission
};

// One argument of a run: a buffer with a byte offset, or a texture with the origin of the tensor.
using TensorBinding = hal::Binding;

// Runs a plan on one device. Temporaries are in memory that the device's workspace pool lends while
// a run is recorded: all programs of a device share that memory, and consecutive runs of one queue
// allocate no further memory. Runs are equal if their symbols, scalars and origins of textures are
// equal. The second of equal runs is recorded over slots of a table of bindings. Later equal runs
// submit the same command buffers again, each with a table of its own memory. On devices that need
// barriers, the barriers are found ahead of time unless the plan names them. Thread safe. May be
// released before its runs are complete.
class DeviceProgram {
 public:
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  // Builds every kernel, several at a time, and, unless their sizes depend on the call, allocates
  // the temporaries in the pool, so that errors occur early: the errors of validate(), of
  // Device::create_executable (with the build log) and of WorkspacePool::acquire; InvalidArgument
  // for a plan with constants but no source, or for a missing barrier; Unimplemented, naming the
  // operator, for a plan with calls but no recorder. `goes_on` is passed to build_side_by_side():
  // Cancelled if it returns false.
  static Result<std::shared_ptr<DeviceProgram>> create(
      std::shared_ptr<hal::Device> device, LaunchPlan plan,
      FunctionRef<bool(const KernelProgress&)> goes_on, const ProgramOptions& options = {});
  static Result<std::shared_ptr<DeviceProgram>> create(std::shared_ptr<hal::Device> device,
                                                       LaunchPlan plan,
                                                       const ProgramOptions& options = {}) {
    return create(
        std::move(device), std::move(plan), [](const KernelProgress&) { return true; }, options);
  }

  // Submits the plan's launches `times` times to a queue. The policy limits the size of
  // submissions, and how far they are ahead of the device. No other run comes between them. If runs
  // come faster than the device executes them, a run waits until the queue is within the policy's
  // backlog, and returns the first error of earlier work that is complete by then. `interrupted` is
  // called after each submission and while waiting: if it returns true, the remaining launches are
  // not submitted, and there is no error; `signals` are then signaled when the submitted launches
  // are complete. `arguments` are the plan's arguments in order; the run keeps them alive. The
  // first run uploads the constants, and waits for the upload.
  //
  // InvalidArgument, naming the argument or the scalar: a wrong count, kind, type, format or
  // device; a tensor that is partly outside its buffer or texture; an origin or offset that a
  // kernel does not support; two arguments that share memory, one of which is written.
  // LimitExceeded: a run of more than kMaxLaunches. In these cases nothing has been submitted, and
  // `signals` are left alone.
  Status run(std::span<const TensorBinding> arguments, const RunValues& values,
             const RunOptions& options, FunctionRef<bool()> interrupted);
  Status run(std::span<const TensorBinding> arguments, const RunValues& values = {},
             const RunOptions& options = {}) {
    return run(arguments, values, options, [] { return false; });
  }

  // The progress of the first runs of the kernels launched so far, on a device that compiles
  // kernels when they first run; `current` is a kernel of the plan. Nullopt if all first runs are
  // complete or have failed, and on other devices.
  std::optional<KernelProgress> first_runs() const;

  // Finds two arguments that run() would refuse together although each is valid by itself. Fails
  // with InvalidArgument if an argument is not valid by itself.
  Result<std::optional<Alias>> find_alias(std::span<const TensorBinding> arguments,
                                          std::span<const std::int64_t> symbols = {});

  const LaunchPlan& plan() const { return plan_; }
  const std::shared_ptr<hal::Device>& device() const { return device_; }

 private:
  struct Instance;
  struct Memory;

  DeviceProgram(std::shared_ptr<hal::Device> device, LaunchPlan plan,
                const ProgramOptions& options);
  Result<std::shared_ptr<Instance>> instance(std::span<const std::int64_t> symbols);
  Result<std::shared_ptr<Instance>> make_instance(std::span<const std::int64_t> symbols);
  Result<LeasedWorkspace> acquire_workspace(const Instance& instance,
                                            const std::shared_ptr<hal::Queue>& queue);
  Status check_barriers(const Instance& instance);
  PlanBindings bindings_for(const RunValues& values) const;
  Status submit_run(Instance& instance, std::span<const TensorBinding> arguments,
                    const RunValues& values, const RunOptions& options,
                    FunctionRef<bool()> interrupted, bool& stopped);
  Status run_directly(const Instance& instance, const Memory& memory, const RunValues& values,
                      const RunOptions& options, FunctionRef<bool()> interrupted, bool& stopped);
  Result<bool> run_recorded(Instance& instance, const Memory& memory, const RunValues& values,
                            const RunOptions& options);
  Status record_over_slots(const Instance& instance, std::span<const hal::Binding> table,
                           const RunValues& values, RecordedRun& run);

  std::shared_ptr<hal::Device> device_;
  LaunchPlan plan_;
  CommitPolicy policy_;
  std::shared_ptr<CallRecorder> calls_;  // may be null
  bool checks_barriers_;
  std::vector<bool> written_;  // by argument
  PlanKernels kernels_;
  std::unique_ptr<FirstRuns> first_runs_;  // null if first runs do not compile kernels
  // Held while a run is submitted, with the upload of constants and, for a long run, its waits for
  // earlier submissions of its own. `interrupted` must not run the program.
  std::mutex running_;
  ProgramConstants constants_;  // guarded by running_
  std::mutex mutex_;
  std::list<std::shared_ptr<Instance>> instances_;  // guarded by mutex_; the latest first
};

}  // namespace texloom::runtime
