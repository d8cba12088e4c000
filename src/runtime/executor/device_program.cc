#include "runtime/executor/device_program.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <variant>

#include "runtime/builds/first_runs.h"
#include "runtime/commit/commit_counter.h"
#include "runtime/commit/device_policy.h"
#include "runtime/executor/plan_barriers.h"
#include "runtime/executor/plan_submitter.h"
#include "runtime/executor/recorded_runs.h"
#include "runtime/executor/run_arguments.h"
#include "runtime/executor/submission_chain.h"
#include "runtime/plan/image_limits.h"
#include "runtime/plan/symbols.h"
#include "runtime/plan/validation.h"
#include "runtime/plan/workspace.h"

namespace texloom::runtime {
namespace {

constexpr std::size_t kKnownInstances = 16;

std::vector<hal::BindingRef> as_refs(std::span<const hal::Binding> bindings) {
  std::vector<hal::BindingRef> refs;
  refs.reserve(bindings.size());
  for (const hal::Binding& binding : bindings)
    std::visit([&](const auto& memory) { refs.emplace_back(memory); }, binding);
  return refs;
}

Status check_count(const LaunchPlan& plan, std::span<const hal::Binding> arguments) {
  if (arguments.size() == plan.arguments.size()) return {};
  return invalid_argument("the program takes {} arguments, got {}", plan.arguments.size(),
                          arguments.size());
}

Status keep_pace(hal::Queue& queue, std::uint64_t backlog, FunctionRef<bool()> interrupted) {
  while (backlog != 0 && queue.backlog() > backlog && !interrupted()) {
    const Status status = queue.wait_idle(hal::after(std::chrono::milliseconds(10)));
    if (status.code() != StatusCode::DeadlineExceeded) return status;
  }
  return {};
}

// Refers to `count` slots from `first` on.
std::vector<hal::BindingRef> slots(std::size_t first, std::size_t count) {
  std::vector<hal::BindingRef> refs;
  for (std::size_t i = 0; i < count; ++i)
    refs.emplace_back(hal::BindingSlot{static_cast<std::uint32_t>(first + i)});
  return refs;
}

// The origins of the textures in a table, by slot.
std::vector<hal::Offset2D> origins_by_slot(std::span<const hal::Binding> table) {
  std::vector<hal::Offset2D> origins;
  origins.reserve(table.size());
  for (const hal::Binding& binding : table) {
    const auto* texture = std::get_if<hal::TextureBinding>(&binding);
    origins.push_back(texture == nullptr ? hal::Offset2D{} : texture->origin);
  }
  return origins;
}

}  // namespace

// The plan with the sizes of one call, and how its temporaries share memory.
struct DeviceProgram::Instance {
  std::vector<std::int64_t> symbols;
  LaunchPlan plan;
  WorkspacePlan workspace;
  hal::Barriers barriers;  // of the command buffers
  // Slots of the arguments, and after them of the temporaries.
  std::vector<hal::BindingRef> argument_slots, temporary_slots;
  RecordedRuns runs;  // guarded by running_
};

// The memory of one run.
struct DeviceProgram::Memory {
  std::span<const hal::Binding> arguments, temporaries;
};

DeviceProgram::DeviceProgram(std::shared_ptr<hal::Device> device, LaunchPlan plan,
                             const ProgramOptions& options)
    : device_(std::move(device)),
      plan_(std::move(plan)),
      policy_(options.policy.value_or(commit_policy_for(device_->info()))),
      calls_(options.calls),
      checks_barriers_(options.checks_barriers),
      written_(written_arguments(plan_)),
      constants_(plan_.constants.empty() ? nullptr : options.constants) {
  if (device_->info().features.compiles_at_first_run)
    first_runs_ = std::make_unique<FirstRuns>(plan_.kernels.size());
}

DeviceProgram::~DeviceProgram() = default;

Result<std::shared_ptr<DeviceProgram>> DeviceProgram::create(
    std::shared_ptr<hal::Device> device, LaunchPlan plan,
    FunctionRef<bool(const KernelProgress&)> goes_on, const ProgramOptions& options) {
  if (device == nullptr) return invalid_argument("the device is null");
  TL_RETURN_IF_ERROR(validate(plan).with_context("launch plan"));
  if (!plan.constants.empty() && options.constants == nullptr)
    return invalid_argument(
        "the plan has {} constants, but nothing provides their values; help: set "
        "ProgramOptions::constants",
        plan.constants.size());
  if (!plan.calls.empty() && options.calls == nullptr)
    return make_error(StatusCode::Unimplemented,
                      "operator \"{}\" is not provided; help: set ProgramOptions::calls",
                      plan.calls.front().op);
  std::shared_ptr<DeviceProgram> program(
      new DeviceProgram(std::move(device), std::move(plan), options));
  TL_ASSIGN_OR_RETURN(program->kernels_, create_kernels(*program->device_, program->plan_));
  TL_RETURN_IF_ERROR(build_side_by_side(program->kernels_.executables, [&](KernelProgress at) {
    at.current = first_kernel_of(program->plan_, at.current);
    return goes_on(at);
  }));
  if (program->plan_.symbols.empty()) {
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<Instance> only, program->instance({}));
    TL_RETURN_IF_ERROR(program->acquire_workspace(*only, program->device_->queue()).status());
  }
  return program;
}

Result<LeasedWorkspace> DeviceProgram::acquire_workspace(const Instance& instance,
                                                         const std::shared_ptr<hal::Queue>& queue) {
  auto workspace = LeasedWorkspace::acquire(device_->workspace_pool(), queue,
                                            instance.plan.temporaries, instance.workspace);
  if (!workspace.ok()) return workspace.status().with_context("temporaries");
  return workspace;
}

Result<std::shared_ptr<DeviceProgram::Instance>> DeviceProgram::instance(
    std::span<const std::int64_t> symbols) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(instances_.begin(), instances_.end(), [&](const auto& instance) {
    return std::equal(symbols.begin(), symbols.end(), instance->symbols.begin(),
                      instance->symbols.end());
  });
  if (known != instances_.end()) {
    instances_.splice(instances_.begin(), instances_, known);
    return instances_.front();
  }
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Instance> made, make_instance(symbols));
  instances_.push_front(made);
  if (instances_.size() > kKnownInstances) instances_.pop_back();
  return made;
}

Result<std::shared_ptr<DeviceProgram::Instance>> DeviceProgram::make_instance(
    std::span<const std::int64_t> symbols) {
  auto made = std::make_shared<Instance>();
  made->symbols.assign(symbols.begin(), symbols.end());
  TL_ASSIGN_OR_RETURN(made->plan, instantiate(plan_, symbols));
  TL_RETURN_IF_ERROR(validate(made->plan).with_context("launch plan"));
  if (!plan_.symbols.empty()) TL_RETURN_IF_ERROR(check_images(made->plan, device_->info().limits));
  if (made->plan.workspace) {
    made->workspace = *made->plan.workspace;
  } else {
    TL_ASSIGN_OR_RETURN(made->workspace,
                        plan_workspace(made->plan, device_->info().limits, kQuickWorkspace));
  }
  if (!made->plan.names_barriers && !device_->info().features.in_order_commands) {
    made->plan.workspace = made->workspace;
    TL_RETURN_IF_ERROR(add_barriers(made->plan));
  }
  made->barriers = made->plan.names_barriers ? hal::Barriers::Explicit : hal::Barriers::Automatic;
  made->argument_slots = slots(0, plan_.arguments.size());
  made->temporary_slots = slots(plan_.arguments.size(), plan_.temporaries.size());
  if (checks_barriers_ && made->plan.names_barriers) TL_RETURN_IF_ERROR(check_barriers(*made));
  return made;
}

// Temporaries may share memory, so the check binds their actual memory. Arguments and constants are
// slots, whose memory is distinct: run() refuses arguments that share memory.
Status DeviceProgram::check_barriers(const Instance& instance) {
  TL_ASSIGN_OR_RETURN(const LeasedWorkspace workspace,
                      acquire_workspace(instance, device_->queue()));
  const std::vector<hal::BindingRef> temporaries = as_refs(workspace.bindings());
  const std::vector<hal::BindingRef> constants =
      slots(plan_.arguments.size(), plan_.constants.size());
  std::vector<hal::Constant> scalars;
  for (const ScalarSpec& scalar : plan_.scalars)
    scalars.push_back(hal::Constant::zero(scalar.element));
  const PlanBindings bindings = {.kernels = kernels_.kernels,
                                 .arguments = instance.argument_slots,
                                 .scalars = scalars,
                                 .temporaries = temporaries,
                                 .constants = constants,
                                 .calls = calls_.get()};
  const auto commands = device_->create_command_buffer({.barriers = hal::Barriers::Checked});
  TL_RETURN_IF_ERROR(record(instance.plan, bindings, *commands));
  return commands->finish();
}

// The bindings of a run, except arguments and temporaries.
PlanBindings DeviceProgram::bindings_for(const RunValues& values) const {
  return {.kernels = kernels_.kernels,
          .scalars = values.scalars,
          .constants = constants_.bindings(),
          .calls = calls_.get()};
}

Status DeviceProgram::run_directly(const Instance& instance, const Memory& memory,
                                   const RunValues& values, const RunOptions& options,
                                   FunctionRef<bool()> interrupted, bool& stopped) {
  const std::vector<hal::BindingRef> arguments = as_refs(memory.arguments);
  const std::vector<hal::BindingRef> temporaries = as_refs(memory.temporaries);
  PlanBindings bindings = bindings_for(values);
  bindings.arguments = arguments;
  bindings.temporaries = temporaries;
  PlanSubmitter submitter({.device = *device_,
                           .queue = *options.queue,
                           .barriers = instance.barriers,
                           .waits = options.waits,
                           .signals = options.signals},
                          policy_, first_runs_.get(), interrupted);
  const Status status = [&]() -> Status {
    for (int i = 0; i < options.times && !submitter.is_stopped(); ++i) {
      if (i != 0 && instance.plan.names_barriers) submitter.add_barrier();
      TL_RETURN_IF_ERROR(record(instance.plan, bindings,
                                [&](std::optional<std::uint32_t> kernel, std::uint64_t bytes) {
                                  return submitter.next(kernel, bytes);
                                }));
    }
    return submitter.finish();
  }();
  if (!status.ok()) submitter.abandon(status);
  stopped = submitter.is_stopped();
  return status;
}

// Records nothing if the first runs of kernels must be followed (FirstRuns), or if the run is so
// long that it waits for its own submissions.
Status DeviceProgram::record_over_slots(const Instance& instance,
                                        std::span<const hal::Binding> table,
                                        const RunValues& values, RecordedRun& run) {
  const std::vector<hal::Offset2D> origins = origins_by_slot(table);
  PlanBindings bindings = bindings_for(values);
  bindings.arguments = instance.argument_slots;
  bindings.temporaries = instance.temporary_slots;
  bindings.slot_origins = origins;
  const auto next_buffer = [&] {
    return device_->create_command_buffer({.reusable = true, .barriers = instance.barriers});
  };
  std::vector<std::shared_ptr<hal::CommandBuffer>> submissions = {next_buffer()};
  CommitCounter counter(policy_);
  bool is_first = false;
  TL_RETURN_IF_ERROR(record(
      instance.plan, bindings,
      [&](std::optional<std::uint32_t> kernel, std::uint64_t bytes) -> Result<hal::CommandBuffer*> {
        if (counter.full(!kernel)) {
          counter.commit();
          submissions.push_back(next_buffer());
          const std::uint64_t most = policy_.submissions_ahead;
          run.is_short = policy_.waits != Waits::Never || most == 0 || submissions.size() <= most;
        }
        is_first = first_runs_ && kernel && !first_runs_->was_launched(*kernel);
        if (!run.is_short || is_first) return nullptr;
        counter.add(1, bytes, !kernel);
        return submissions.back().get();
      }));
  if (!run.is_short || is_first) return {};
  for (const auto& commands : submissions) TL_RETURN_IF_ERROR(commands->finish());
  run.submissions.assign(submissions.begin(), submissions.end());
  return {};
}

Result<bool> DeviceProgram::run_recorded(Instance& instance, const Memory& memory,
                                         const RunValues& values, const RunOptions& options) {
  if (options.times != 1) return false;
  // A recording of custom operators has their scratch memory, which two queues must not share.
  const std::shared_ptr<hal::Queue> queue = plan_.calls.empty() ? nullptr : options.queue;
  RecordedRun* const run = instance.runs.find(values.scalars, memory.arguments, queue);
  if (run == nullptr || !run->is_short) return false;
  std::vector<hal::Binding> table;
  table.reserve(memory.arguments.size() + memory.temporaries.size());
  table.assign(memory.arguments.begin(), memory.arguments.end());
  table.insert(table.end(), memory.temporaries.begin(), memory.temporaries.end());
  if (run->submissions.empty()) {
    TL_RETURN_IF_ERROR(record_over_slots(instance, table, values, *run));
    if (run->submissions.empty()) return false;
  }
  SubmissionChain chain(*options.queue, options.waits, options.signals);
  const Status status = [&]() -> Status {
    for (std::size_t i = 0; i + 1 < run->submissions.size(); ++i) {
      TL_RETURN_IF_ERROR(chain.submit({{run->submissions[i], table}}));
      if (policy_.waits != Waits::Never) TL_RETURN_IF_ERROR(options.queue->wait_idle());
    }
    // Of a long run, the device starts the beginning while the rest is submitted.
    const bool is_awaited = options.is_awaited && run->submissions.size() == 1;
    return chain.finish({{run->submissions.back(), std::move(table)}}, is_awaited);
  }();
  if (!status.ok()) chain.abandon(status);
  TL_RETURN_IF_ERROR(status);
  return true;
}

Status DeviceProgram::run(std::span<const TensorBinding> arguments, const RunValues& values,
                          const RunOptions& given, FunctionRef<bool()> interrupted) {
  TL_RETURN_IF_ERROR(check_count(plan_, arguments));
  TL_RETURN_IF_ERROR(check_scalars(plan_.scalars, values.scalars));
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<Instance> now, instance(values.symbols));
  TL_RETURN_IF_ERROR(check_arguments(now->plan, arguments));
  if (const auto alias = runtime::find_alias(now->plan, written_, arguments))
    return invalid_argument(
        "arguments \"{}\" and \"{}\" share memory, which is written: bind each to memory of its "
        "own",
        plan_.arguments[alias->first].name, plan_.arguments[alias->second].name);
  RunOptions options = given;
  if (options.queue == nullptr) options.queue = device_->queue();
  std::vector<TensorBinding> cut;
  if (!plan_.symbols.empty()) {
    TL_ASSIGN_OR_RETURN(cut, cut_to_size(now->plan.arguments, arguments));
    arguments = cut;
  }
  bool stopped = false;
  TL_RETURN_IF_ERROR(submit_run(*now, arguments, values, options, interrupted, stopped));
  return stopped ? Status() : keep_pace(*options.queue, policy_.backlog, interrupted);
}

Status DeviceProgram::submit_run(Instance& instance, std::span<const TensorBinding> arguments,
                                 const RunValues& values, const RunOptions& options,
                                 FunctionRef<bool()> interrupted, bool& stopped) {
  const std::lock_guard lock(running_);
  TL_RETURN_IF_ERROR(constants_.upload(*device_, plan_));
  TL_ASSIGN_OR_RETURN(LeasedWorkspace workspace, acquire_workspace(instance, options.queue));
  const Memory memory{arguments, workspace.bindings()};
  TL_ASSIGN_OR_RETURN(const bool submitted, run_recorded(instance, memory, values, options));
  if (submitted)
    stopped = interrupted();
  else
    TL_RETURN_IF_ERROR(run_directly(instance, memory, values, options, interrupted, stopped));
  workspace.release();
  return {};
}

std::optional<KernelProgress> DeviceProgram::first_runs() const {
  return first_runs_ == nullptr ? std::nullopt : first_runs_->progress();
}

Result<std::optional<Alias>> DeviceProgram::find_alias(std::span<const TensorBinding> arguments,
                                                       std::span<const std::int64_t> symbols) {
  TL_RETURN_IF_ERROR(check_count(plan_, arguments));
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<Instance> now, instance(symbols));
  TL_RETURN_IF_ERROR(check_arguments(now->plan, arguments));
  return runtime::find_alias(now->plan, written_, arguments);
}

}  // namespace texloom::runtime
