#include "runtime/plan_executor.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "runtime/first_runs.h"
#include "runtime/plan_symbols.h"
#include "runtime/plan_validation.h"

namespace texloom::runtime {
namespace {

Status check_argument(const TensorSpec& tensor, const TensorBinding& binding) {
  if (const auto* wanted = std::get_if<TextureStorage>(&tensor.storage)) {
    const auto* bound = std::get_if<hal::TextureBinding>(&binding);
    if (bound == nullptr)
      return invalid_argument("expected {}, got a buffer", describe(tensor.storage));
    if (bound->texture == nullptr) return invalid_argument("the texture is null");
    if (bound->texture->format() != wanted->format ||
        !hal::region_fits(bound->origin, wanted->extent, bound->texture->extent()) ||
        (wanted->exact_extent && bound->texture->extent() != wanted->extent))
      return invalid_argument("expected {}, got one of {} with {}, at origin {}",
                              describe(tensor.storage), hal::to_string(bound->texture->format()),
                              hal::to_string(bound->texture->extent()),
                              hal::to_string(bound->origin));
    return {};
  }
  const std::uint64_t wanted = std::get<BufferStorage>(tensor.storage).bytes;
  const auto* bound = std::get_if<hal::BufferBinding>(&binding);
  if (bound == nullptr)
    return invalid_argument("expected {}, got a texture", describe(tensor.storage));
  if (bound->buffer == nullptr) return invalid_argument("the buffer is null");
  if (!hal::range_fits(bound->offset, wanted, bound->buffer->bytes()))
    return invalid_argument("expected {}, got one of {} bytes, at offset {}",
                            describe(tensor.storage), bound->buffer->bytes(), bound->offset);
  return {};
}

// Kernels whose sizes depend on the call touch everything that is bound, so each binding is cut to
// the size of its tensor.
Result<std::vector<TensorBinding>> cut_to_size(const LaunchPlan& plan,
                                               std::span<const TensorBinding> arguments) {
  std::vector<TensorBinding> cut(arguments.begin(), arguments.end());
  for (std::size_t i = 0; i < cut.size(); ++i) {
    auto* bound = std::get_if<hal::BufferBinding>(&cut[i]);
    if (bound == nullptr) continue;
    const std::uint64_t bytes = std::get<BufferStorage>(plan.arguments[i].storage).bytes;
    if (bytes == 0 || bytes == bound->buffer->bytes()) continue;
    TL_ASSIGN_OR_RETURN(bound->buffer, bound->buffer->subspan(bound->offset, bytes));
    bound->offset = 0;
  }
  return cut;
}

Status check_scalars(std::span<const ScalarSpec> wanted, std::span<const hal::Constant> given) {
  if (given.size() != wanted.size())
    return invalid_argument("the plan has {} scalars, got {}", wanted.size(), given.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (given[i].type() != wanted[i].element)
      return invalid_argument("the scalar \"{}\" is {}, got {}", wanted[i].name,
                              hal::to_string(wanted[i].element), hal::to_string(given[i].type()));
  }
  return {};
}

// `type` is a 32-bit or 64-bit integer type that can represent `value`: validate() has checked
// both.
hal::Constant integer_constant(hal::ElementType type, std::int64_t value) {
  switch (type) {
    case hal::ElementType::Int32:
      return hal::Constant(static_cast<std::int32_t>(value));
    case hal::ElementType::UInt32:
      return hal::Constant(static_cast<std::uint32_t>(value));
    case hal::ElementType::UInt64:
      return hal::Constant(static_cast<std::uint64_t>(value));
    default:
      return hal::Constant(value);
  }
}

// Records and submits the steps of runs.
class Recorder {
 public:
  // `first_runs` is null if first runs are like any other.
  Recorder(const LaunchPlan& plan, std::span<const std::shared_ptr<hal::Executable>> executables,
           std::span<const TensorBinding> arguments, std::span<const hal::Constant> scalars,
           std::span<const hal::Binding> temporaries, hal::Device& device, FirstRuns* first_runs,
           FunctionRef<bool()> interrupted)
      : plan_(plan),
        executables_(executables),
        arguments_(arguments),
        scalars_(scalars),
        temporaries_(temporaries),
        device_(device),
        first_runs_(first_runs),
        interrupted_(interrupted) {}

  bool is_stopped() const { return stopped_; }

  Status run(int times) {
    for (int i = 0; i < times && !stopped_; ++i) TL_RETURN_IF_ERROR(record(plan_.steps));
    return recorded_ == 0 ? Status() : submit({});
  }

 private:
  Status record(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (stopped_) return {};
      if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        TL_RETURN_IF_ERROR(record(*launch));
      } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_ASSIGN_OR_RETURN(const std::int64_t extent, value_of(loop->extent));
        for (std::int64_t i = 0; i < extent && !stopped_; ++i) {
          variables_[loop->slot] = i;
          TL_RETURN_IF_ERROR(record(loop->body));
        }
      }
    }
    return {};
  }

  Status record(const LaunchStep& launch) {
    if (commands_ == nullptr) commands_ = device_.create_command_buffer();
    const std::vector<hal::KernelParam>& params = plan_.kernels[launch.kernel].entry.params;
    std::vector<hal::Binding> bindings;
    std::vector<hal::Constant> constants;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Operand& operand = launch.operands[i];
      if (const auto* constant = std::get_if<hal::ConstantParam>(&params[i]))
        constants.push_back(constant_of(*constant, operand));
      else
        bindings.push_back(binding(std::get<TensorRef>(operand)));
    }
    const auto groups = hal::groups_of(launch.groups, {}, variables_);
    if (!groups.ok())
      return groups.status().with_context(
          fmt::format("kernel \"{}\"", plan_.kernels[launch.kernel].entry.name));
    TL_RETURN_IF_ERROR(
        commands_->dispatch(executables_[launch.kernel], 0, *groups, bindings, constants));
    if (is_first_run(launch.kernel)) {
      TL_RETURN_IF_ERROR(commands_->finish());
      first_launches_.push_back({launch.kernel, std::exchange(commands_, nullptr)});
    }
    if (++recorded_ < kLaunchesPerSubmission) return {};
    ++submitted_;
    TL_RETURN_IF_ERROR(submit({{progress_, submitted_}}));
    return submitted_ > kSubmissionsAhead ? wait_for(submitted_ - kSubmissionsAhead) : Status();
  }

  // Commands up to the first launch of a kernel, which are submitted by themselves, so that it is
  // known which kernel a long wait is for.
  struct FirstLaunch {
    std::uint32_t kernel;
    std::shared_ptr<hal::CommandBuffer> commands;
  };

  bool is_first_run(std::uint32_t kernel) const {
    return first_runs_ != nullptr && !first_runs_->was_launched(kernel) &&
           std::none_of(first_launches_.begin(), first_launches_.end(),
                        [&](const FirstLaunch& each) { return each.kernel == kernel; });
  }

  Status submit_first_launches() {
    for (FirstLaunch& each : std::exchange(first_launches_, {})) {
      const hal::TimelinePoint point = first_runs_->launch(each.kernel);
      const Status status = device_.queue()->submit({{}, {std::move(each.commands)}, {point}});
      if (status.ok()) continue;
      static_cast<void>(point.semaphore->fail(status));
      return status;
    }
    return {};
  }

  Status submit(std::vector<hal::TimelinePoint> signals) {
    recorded_ = 0;
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
  Status wait_for(std::uint64_t completed) {
    while (!stopped_) {
      const Status status = progress_->wait(completed, hal::after(std::chrono::milliseconds(10)));
      if (status.code() != StatusCode::DeadlineExceeded) return status;
      stopped_ = interrupted_();
    }
    return {};
  }

  const hal::Binding& binding(TensorRef ref) const {
    return ref.kind == TensorRef::Kind::Argument ? arguments_[ref.index] : temporaries_[ref.index];
  }

  Result<std::int64_t> value_of(const Size& size) const {
    if (const auto constant = size.constant()) return *constant;
    return size.at({}, variables_);
  }

  hal::Constant constant_of(const hal::ConstantParam& param, const Operand& operand) const {
    if (const auto* scalar = std::get_if<ScalarValue>(&operand)) return scalars_[scalar->scalar];
    return integer_constant(param.type, number(operand));
  }

  std::int64_t number(const Operand& operand) const {
    if (const auto* immediate = std::get_if<Immediate>(&operand)) return immediate->value;
    if (const auto* variable = std::get_if<LoopVariable>(&operand))
      return variables_.at(variable->slot);
    const auto& origin = std::get<OriginOf>(operand);
    const hal::Offset2D offset = std::get<hal::TextureBinding>(binding(origin.tensor)).origin;
    return origin.axis == OriginOf::Axis::X ? offset.x : offset.y;
  }

  const LaunchPlan& plan_;
  std::span<const std::shared_ptr<hal::Executable>> executables_;
  std::span<const TensorBinding> arguments_;
  std::span<const hal::Constant> scalars_;
  std::span<const hal::Binding> temporaries_;
  hal::Device& device_;
  FirstRuns* first_runs_;
  FunctionRef<bool()> interrupted_;
  std::shared_ptr<hal::Semaphore> progress_ = hal::Semaphore::create();
  std::uint64_t submitted_ = 0;                   // the value that progress_ will reach
  std::vector<FirstLaunch> first_launches_;       // before `commands_`
  std::shared_ptr<hal::CommandBuffer> commands_;  // null after a submission or a first launch
  int recorded_ = 0;                              // launches in both
  bool stopped_ = false;
  LoopValues variables_;
};

Status keep_pace(hal::Queue& queue, FunctionRef<bool()> interrupted) {
  while (queue.backlog() > kMaxBacklog && !interrupted()) {
    const Status status = queue.wait_idle(hal::after(std::chrono::milliseconds(10)));
    if (status.code() != StatusCode::DeadlineExceeded) return status;
  }
  return {};
}

}  // namespace

PlanExecutor::PlanExecutor(std::shared_ptr<hal::Device> device, LaunchPlan plan)
    : device_(std::move(device)), plan_(std::move(plan)) {
  if (device_->info().features.compiles_at_first_run)
    first_runs_ = std::make_unique<FirstRuns>(plan_.kernels.size());
}

PlanExecutor::~PlanExecutor() = default;

Result<std::shared_ptr<PlanExecutor>> PlanExecutor::create(
    std::shared_ptr<hal::Device> device, LaunchPlan plan,
    FunctionRef<bool(const KernelProgress&)> goes_on) {
  if (device == nullptr) return invalid_argument("the device is null");
  TL_RETURN_IF_ERROR(validate(plan).with_context("launch plan"));
  std::shared_ptr<PlanExecutor> executor(new PlanExecutor(std::move(device), std::move(plan)));
  executor->written_ = written_arguments(executor->plan_);
  for (const KernelSpec& kernel : executor->plan_.kernels) {
    TL_ASSIGN_OR_RETURN(auto executable,
                        executor->device_->create_executable({.codes = kernel.codes,
                                                              .entry_points = {kernel.entry},
                                                              .math = kernel.math,
                                                              .build = hal::BuildTime::FirstUse}));
    executor->executables_.push_back(std::move(executable));
  }
  TL_RETURN_IF_ERROR(build_side_by_side(executor->executables_, goes_on));
  if (executor->plan_.symbols.empty()) {
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<const Instance> only, executor->instance({}));
    TL_RETURN_IF_ERROR(executor->acquire_workspace(*only).status());
  }
  return executor;
}

Result<Workspace> PlanExecutor::acquire_workspace(const Instance& instance) {
  auto workspace =
      Workspace::acquire(device_->workspace_pool(), device_->queue(), instance.workspace);
  if (!workspace.ok()) return workspace.status().with_context("temporaries");
  return workspace;
}

Result<std::shared_ptr<const PlanExecutor::Instance>> PlanExecutor::instance(
    std::span<const std::int64_t> symbols) {
  const std::lock_guard lock(mutex_);
  if (latest_ &&
      std::equal(symbols.begin(), symbols.end(), latest_->symbols.begin(), latest_->symbols.end()))
    return latest_;
  auto made = std::make_shared<Instance>();
  made->symbols.assign(symbols.begin(), symbols.end());
  TL_ASSIGN_OR_RETURN(made->plan, instantiate(plan_, symbols));
  TL_RETURN_IF_ERROR(validate(made->plan).with_context("launch plan"));
  made->workspace = plan_workspace(made->plan, device_->info().limits.max_allocation_bytes);
  latest_ = std::move(made);
  return latest_;
}

Status PlanExecutor::run(std::span<const TensorBinding> arguments, const RunValues& values,
                         int times, FunctionRef<bool()> interrupted) {
  if (arguments.size() != plan_.arguments.size())
    return invalid_argument("the program takes {} arguments, got {}", plan_.arguments.size(),
                            arguments.size());
  TL_RETURN_IF_ERROR(check_scalars(plan_.scalars, values.scalars));
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<const Instance> now, instance(values.symbols));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Status status = check_argument(now->plan.arguments[i], arguments[i]);
    if (!status.ok())
      return status.with_context(fmt::format("argument {} \"{}\"", i, plan_.arguments[i].name));
  }
  if (const auto alias = runtime::find_alias(now->plan, written_, arguments))
    return invalid_argument("arguments \"{}\" and \"{}\" share memory, which is written",
                            plan_.arguments[alias->first].name,
                            plan_.arguments[alias->second].name);
  std::vector<TensorBinding> cut;
  if (!plan_.symbols.empty()) {
    TL_ASSIGN_OR_RETURN(cut, cut_to_size(now->plan, arguments));
    arguments = cut;
  }
  const std::lock_guard lock(running_);
  TL_ASSIGN_OR_RETURN(Workspace workspace, acquire_workspace(*now));
  Recorder recorder(now->plan, executables_, arguments, values.scalars, workspace.bindings(),
                    *device_, first_runs_.get(), interrupted);
  TL_RETURN_IF_ERROR(recorder.run(times));
  workspace.release();
  return recorder.is_stopped() ? Status() : keep_pace(*device_->queue(), interrupted);
}

std::optional<KernelProgress> PlanExecutor::first_runs() const {
  return first_runs_ == nullptr ? std::nullopt : first_runs_->progress();
}

Result<std::optional<Alias>> PlanExecutor::find_alias(std::span<const TensorBinding> arguments,
                                                      std::span<const std::int64_t> symbols) {
  TL_ASSIGN_OR_RETURN(const std::shared_ptr<const Instance> now, instance(symbols));
  return runtime::find_alias(now->plan, written_, arguments);
}

}  // namespace texloom::runtime
