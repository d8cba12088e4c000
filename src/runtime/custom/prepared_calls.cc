#include "runtime/custom/prepared_calls.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "runtime/custom/call_check.h"
#include "runtime/custom/no_exceptions.h"
#include "runtime/custom/write_check.h"
#include "runtime/hal/no_waits.h"

namespace texloom::runtime {

struct PreparedCalls::Call {
  CallStep step;
  std::shared_ptr<const CustomOperator> op;
  std::vector<TensorSpec> tensors;
  std::uint64_t workspace_bytes = 0;
  std::unique_ptr<const PreparedCall> prepared;
  std::shared_ptr<hal::Queue> checking = {};  // for the check of writes; null without it

  std::string name() const { return "operator \"" + op->info().name + "\""; }
};

namespace {

hal::NativeAccess access_of(const hal::BindingRef& memory, hal::Access access,
                            const TensorStorage& storage) {
  hal::NativeAccess result{.memory = memory, .access = access};
  if (const auto* texture = std::get_if<TextureStorage>(&storage)) {
    result.extent = texture->extent;
  } else {
    result.bytes = bytes_of(storage);
  }
  return result;
}

}  // namespace

// Walks over a plan's steps, each loop's body once.
class PreparedCalls::Maker {
 public:
  Maker(const OperatorRegistry& registry, const LaunchPlan& plan, const PrepareOptions& options,
        PreparedCalls& made)
      : registry_(registry), plan_(plan), options_(options), made_(made) {}

  Status make() {
    TL_RETURN_IF_ERROR(collect(plan_.steps));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto* step = std::get_if<CallStep>(order_[i]);
      if (step == nullptr || is_made(*step)) continue;
      TL_RETURN_IF_ERROR(
          make(*step, i).with_context(fmt::format("operator \"{}\"", plan_.calls[step->call].op)));
    }
    return {};
  }

 private:
  Status collect(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_RETURN_IF_ERROR(collect(loop->body));
      } else if (const auto* call = std::get_if<CallStep>(&step)) {
        order_.push_back(&step);
        const OperatorCall& named = plan_.calls[call->call];
        TL_ASSIGN_OR_RETURN(auto op, registry_.find(named.op, named.version));
        ops_.push_back(std::move(op));
      } else if (std::holds_alternative<LaunchStep>(step)) {
        order_.push_back(&step);
        ops_.emplace_back();
      }
    }
    return {};
  }

  bool is_made(const CallStep& step) const {
    return std::any_of(made_.calls_.begin(), made_.calls_.end(), [&](const auto& call) {
      return call->step.call == step.call && call->step.tensors == step.tensors;
    });
  }

  std::optional<CallNeighbor> neighbor(std::size_t place) const {
    if (place >= order_.size()) return {};
    if (ops_[place] != nullptr)
      return CallNeighbor{ops_[place]->info().name, ops_[place]->info().device};
    const auto& launch = std::get<LaunchStep>(*order_[place]);
    return CallNeighbor{plan_.kernels[launch.kernel].entry.name, OperatorDevice::Program};
  }

  // A queue that host calls may wait for.
  Result<std::shared_ptr<hal::Queue>> transfers() {
    if (transfers_ == nullptr) {
      TL_ASSIGN_OR_RETURN(transfers_, made_.device_->create_queue());
    }
    return transfers_;
  }

  Status make(const CallStep& step, std::size_t place) {
    const OperatorCall& call = plan_.calls[step.call];
    const std::shared_ptr<const CustomOperator>& op = ops_[place];
    const OperatorInfo& info = op->info();
    TL_RETURN_IF_ERROR(check_driver(info, made_.device_->info()));
    PrepareContext context{.op = op, .device = made_.device_};
    for (const TensorRef ref : step.tensors) context.tensors.push_back(tensor_of(plan_, ref));
    TL_RETURN_IF_ERROR(check_arguments(info, call, step, context.tensors));
    TL_ASSIGN_OR_RETURN(context.variant, find_variant(info, context.tensors));
    TL_ASSIGN_OR_RETURN(context.attributes, Attributes::complete(info, call.attributes));
    context.payload = call.payload;
    context.number = static_cast<std::uint32_t>(place);
    if (place > 0) context.previous = neighbor(place - 1);
    context.next = neighbor(place + 1);
    context.checks_writes = options_.check_writes;
    if (info.device == OperatorDevice::Host) {
      TL_ASSIGN_OR_RETURN(context.transfers, transfers());
    }
    const std::vector<TensorSpec> tensors = context.tensors;
    TL_ASSIGN_OR_RETURN(auto prepared, without_exceptions([&] { return op->prepare(context); }));
    if (prepared == nullptr) return invalid_argument("prepare returned null");
    Call made{.step = step,
              .op = op,
              .tensors = tensors,
              .workspace_bytes = context.workspace_bytes,
              .prepared = std::move(prepared)};
    if (options_.check_writes) {
      TL_ASSIGN_OR_RETURN(made.checking, transfers());
    }
    made_.calls_.push_back(std::make_unique<const Call>(std::move(made)));
    return {};
  }

  const OperatorRegistry& registry_;
  const LaunchPlan& plan_;
  const PrepareOptions& options_;
  PreparedCalls& made_;
  std::vector<const Step*> order_;                          // the launches and calls
  std::vector<std::shared_ptr<const CustomOperator>> ops_;  // of the calls among them
  std::shared_ptr<hal::Queue> transfers_;
};

PreparedCalls::PreparedCalls(std::shared_ptr<hal::Device> device) : device_(std::move(device)) {}
PreparedCalls::~PreparedCalls() = default;

Status PreparedCalls::encode(const Call& call, std::span<const hal::BindingRef> tensors,
                             std::span<const hal::Offset2D> origins,
                             hal::CommandBuffer& commands) const {
  std::vector<hal::NativeAccess> accesses;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    accesses.push_back(
        access_of(tensors[i], call.op->info().arguments[i].access, call.tensors[i].storage));
  // The pool lends the memory again when no command buffer names it.
  hal::Lease<hal::Buffer> workspace;
  std::optional<hal::BufferBinding> memory;
  if (call.workspace_bytes > 0) {
    TL_ASSIGN_OR_RETURN(workspace, device_->workspace_pool().acquire(
                                       device_->queue(), {.bytes = call.workspace_bytes}));
    memory = hal::BufferBinding{workspace.object()};
    accesses.push_back(
        {.memory = *memory, .access = hal::Access::ReadWrite, .bytes = call.workspace_bytes});
  }
  const EncodeContext context{.name = call.op->info().name,
                              .commands = commands,
                              .tensors = tensors,
                              .origins = origins,
                              .workspace = std::move(memory),
                              .accesses = accesses};
  const std::string name = call.name();
  const hal::NoWaits no_waits(name);
  return without_exceptions([&] { return call.prepared->encode(context); });
}

Status PreparedCalls::record(const CallStep& step, std::span<const hal::BindingRef> tensors,
                             std::span<const hal::Offset2D> origins, hal::CommandBuffer& commands) {
  if (&commands.device_info() != &device_->info())
    return invalid_argument(
        "was prepared for another device ({}, not {}); help: prepare the calls again for the "
        "device that runs them",
        device_->info().name, commands.device_info().name);
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const auto& call) {
    return call->step.call == step.call && call->step.tensors == step.tensors;
  });
  if (found == calls_.end())
    return invalid_argument("was not prepared: the step belongs to another plan");
  const Call& call = **found;
  if (call.checking == nullptr) return encode(call, tensors, origins, commands);
  const auto check =
      std::make_shared<WriteCheck>(device_, call.checking, call.op->info(), call.tensors);
  const auto named = [name = call.name()](const Status& status) {
    return status.with_context(name);
  };
  TL_RETURN_IF_ERROR(commands.host_call_with_table(
      tensors, [=](const hal::HostCallMemory& memory) { return named(check->remember(memory)); }));
  TL_RETURN_IF_ERROR(encode(call, tensors, origins, commands));
  return commands.host_call_with_table(
      tensors, [=](const hal::HostCallMemory& memory) { return named(check->compare(memory)); });
}

Result<std::unique_ptr<PreparedCalls>> prepare_calls(const OperatorRegistry& registry,
                                                     const LaunchPlan& plan,
                                                     const std::shared_ptr<hal::Device>& device,
                                                     const PrepareOptions& options) {
  if (!plan.symbols.empty())
    return invalid_argument(
        "the plan has symbols; help: give them values first (instantiate in plan/symbols.h)");
  std::unique_ptr<PreparedCalls> made(new PreparedCalls(device));
  TL_RETURN_IF_ERROR(PreparedCalls::Maker(registry, plan, options, *made).make());
  return made;
}

}  // namespace texloom::runtime
