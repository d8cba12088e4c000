#include "runtime/plan_executor.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "runtime/kernels/first_runs.h"
#include "runtime/plan_submitter.h"
#include "runtime/plan_symbols.h"
#include "runtime/plan_validation.h"
#include "runtime/plan_workspace.h"
#include "runtime/record_plan.h"

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

std::vector<hal::BindingRef> as_refs(std::span<const hal::Binding> bindings) {
  std::vector<hal::BindingRef> refs;
  refs.reserve(bindings.size());
  for (const hal::Binding& binding : bindings)
    std::visit([&](const auto& memory) { refs.emplace_back(memory); }, binding);
  return refs;
}

Status keep_pace(hal::Queue& queue, std::uint64_t backlog, FunctionRef<bool()> interrupted) {
  while (backlog != 0 && queue.backlog() > backlog && !interrupted()) {
    const Status status = queue.wait_idle(hal::after(std::chrono::milliseconds(10)));
    if (status.code() != StatusCode::DeadlineExceeded) return status;
  }
  return {};
}

}  // namespace

PlanExecutor::PlanExecutor(std::shared_ptr<hal::Device> device, LaunchPlan plan,
                           const CommitPolicy& policy)
    : device_(std::move(device)), plan_(std::move(plan)), policy_(policy) {
  if (device_->info().features.compiles_at_first_run)
    first_runs_ = std::make_unique<FirstRuns>(plan_.kernels.size());
}

PlanExecutor::~PlanExecutor() = default;

Result<std::shared_ptr<PlanExecutor>> PlanExecutor::create(
    std::shared_ptr<hal::Device> device, LaunchPlan plan,
    FunctionRef<bool(const KernelProgress&)> goes_on, const CommitPolicy& policy) {
  if (device == nullptr) return invalid_argument("the device is null");
  TL_RETURN_IF_ERROR(validate(plan).with_context("launch plan"));
  std::shared_ptr<PlanExecutor> executor(
      new PlanExecutor(std::move(device), std::move(plan), policy));
  executor->written_ = written_arguments(executor->plan_);
  if (!executor->plan_.constants.empty() || !executor->plan_.calls.empty())
    return make_error(StatusCode::Unimplemented, "the plan has constants or custom operators");
  TL_ASSIGN_OR_RETURN(executor->kernels_, create_kernels(*executor->device_, executor->plan_));
  TL_RETURN_IF_ERROR(build_side_by_side(executor->kernels_.executables, [&](KernelProgress at) {
    at.current = first_kernel_of(executor->plan_, at.current);
    return goes_on(at);
  }));
  if (executor->plan_.symbols.empty()) {
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<const Instance> only, executor->instance({}));
    TL_RETURN_IF_ERROR(executor->acquire_workspace(*only).status());
  }
  return executor;
}

Result<Workspace> PlanExecutor::acquire_workspace(const Instance& instance) {
  auto workspace = Workspace::acquire(device_->workspace_pool(), device_->queue(),
                                      instance.plan.temporaries, instance.workspace);
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
  if (made->plan.workspace) {
    made->workspace = *made->plan.workspace;
  } else {
    TL_ASSIGN_OR_RETURN(made->workspace, plan_workspace(made->plan, device_->info().limits));
  }
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
  const std::vector<hal::BindingRef> bound = as_refs(arguments);
  const std::vector<hal::BindingRef> temporaries = as_refs(workspace.bindings());
  const PlanBindings bindings = {.kernels = kernels_.kernels,
                                 .arguments = bound,
                                 .scalars = values.scalars,
                                 .temporaries = temporaries};
  PlanSubmitter submitter(*device_, policy_, first_runs_.get(), interrupted);
  for (int i = 0; i < times && !submitter.is_stopped(); ++i)
    TL_RETURN_IF_ERROR(
        record(now->plan, bindings, [&](std::optional<std::uint32_t> kernel, std::uint64_t bytes) {
          return submitter.next(kernel, bytes);
        }));
  TL_RETURN_IF_ERROR(submitter.finish());
  workspace.release();
  return submitter.is_stopped() ? Status()
                                : keep_pace(*device_->queue(), policy_.backlog, interrupted);
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
