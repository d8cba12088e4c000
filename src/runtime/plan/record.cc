#include "runtime/plan/record.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace texloom::runtime {
namespace {

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

class Recorder {
 public:
  Recorder(const LaunchPlan& plan, const PlanBindings& bindings, NextCommandBuffer next)
      : plan_(plan), bindings_(bindings), next_(next) {}

  Status record(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (stopped_) return {};
      if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        TL_RETURN_IF_ERROR(record(*launch));
      } else if (const auto* call = std::get_if<CallStep>(&step)) {
        TL_RETURN_IF_ERROR(record(*call));
      } else if (std::holds_alternative<BarrierStep>(step)) {
        needs_barrier_ = true;
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

 private:
  Status record(const LaunchStep& launch) {
    const std::vector<hal::KernelParam>& params = plan_.kernels[launch.kernel].entry.params;
    bindings_of_launch_.clear();
    constants_.clear();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Operand& operand = launch.operands[i];
      if (const auto* constant = std::get_if<hal::ConstantParam>(&params[i])) {
        constants_.push_back(constant_of(*constant, operand));
      } else {
        const TensorRef ref = std::get<TensorRef>(operand);
        bindings_of_launch_.push_back(binding(ref));
        bytes += bytes_of(tensor_of(plan_, ref).storage);
      }
    }
    const auto groups = hal::groups_of(launch.groups, {}, variables_);
    if (!groups.ok())
      return groups.status().with_context(
          fmt::format("kernel \"{}\"", plan_.kernels[launch.kernel].entry.name));
    TL_ASSIGN_OR_RETURN(hal::CommandBuffer* const commands, next_command(launch.kernel, bytes));
    if (stopped_) return {};
    const LoadedKernel& kernel = bindings_.kernels[launch.kernel];
    return commands->dispatch_with_table(kernel.executable, kernel.entry_point, *groups,
                                         bindings_of_launch_, constants_);
  }

  Status record(const CallStep& step) {
    const std::string& name = plan_.calls[step.call].op;
    if (bindings_.calls == nullptr)
      return make_error(StatusCode::Unimplemented,
                        "operator \"{}\" is not provided; help: set PlanBindings::calls", name);
    bindings_of_launch_.clear();
    std::vector<hal::Offset2D> origins;
    std::uint64_t bytes = 0;
    for (const TensorRef ref : step.tensors) {
      bindings_of_launch_.push_back(binding(ref));
      const bool is_texture = std::holds_alternative<TextureStorage>(tensor_of(plan_, ref).storage);
      origins.push_back(is_texture ? origin_of(bindings_of_launch_.back()) : hal::Offset2D{});
      bytes += bytes_of(tensor_of(plan_, ref).storage);
    }
    TL_ASSIGN_OR_RETURN(hal::CommandBuffer* const commands, next_command({}, bytes));
    if (stopped_) return {};
    return bindings_.calls->record(step, bindings_of_launch_, origins, *commands)
        .with_context(fmt::format("operator \"{}\"", name));
  }

  // Sets stopped_ if there is no command buffer.
  Result<hal::CommandBuffer*> next_command(std::optional<std::uint32_t> kernel,
                                           std::uint64_t bytes) {
    TL_ASSIGN_OR_RETURN(hal::CommandBuffer* const commands, next_(kernel, bytes));
    stopped_ = commands == nullptr;
    if (needs_barrier_ && commands == last_ && !stopped_) TL_RETURN_IF_ERROR(commands->barrier());
    needs_barrier_ = false;
    last_ = commands;
    return commands;
  }

  const hal::BindingRef& binding(TensorRef ref) const {
    switch (ref.kind) {
      case TensorRef::Kind::Argument:
        return bindings_.arguments[ref.index];
      case TensorRef::Kind::Temporary:
        return bindings_.temporaries[ref.index];
      default:
        return bindings_.constants[ref.index];
    }
  }

  hal::Offset2D origin_of(const hal::BindingRef& binding) const {
    if (const auto* bound = std::get_if<hal::TextureBinding>(&binding)) return bound->origin;
    const std::uint32_t slot = std::get<hal::BindingSlot>(binding).index;
    return slot < bindings_.slot_origins.size() ? bindings_.slot_origins[slot] : hal::Offset2D{};
  }

  Result<std::int64_t> value_of(const Size& size) const {
    if (const auto constant = size.constant()) return *constant;
    return size.at({}, variables_);
  }

  hal::Constant constant_of(const hal::ConstantParam& param, const Operand& operand) const {
    if (const auto* scalar = std::get_if<ScalarValue>(&operand))
      return bindings_.scalars[scalar->scalar];
    return integer_constant(param.type, number(operand));
  }

  std::int64_t number(const Operand& operand) const {
    if (const auto* immediate = std::get_if<Immediate>(&operand)) return immediate->value;
    if (const auto* variable = std::get_if<LoopVariable>(&operand))
      return variables_.at(variable->slot);
    const auto& origin = std::get<OriginOf>(operand);
    const hal::Offset2D offset = origin_of(binding(origin.tensor));
    return origin.axis == OriginOf::Axis::X ? offset.x : offset.y;
  }

  const LaunchPlan& plan_;
  const PlanBindings& bindings_;
  NextCommandBuffer next_;
  bool stopped_ = false;
  bool needs_barrier_ = false;          // before the next command
  hal::CommandBuffer* last_ = nullptr;  // the command buffer of the last command
  LoopValues variables_;
  std::vector<hal::BindingRef> bindings_of_launch_;  // of the current launch or call
  std::vector<hal::Constant> constants_;
};

}  // namespace

Status record(const LaunchPlan& plan, const PlanBindings& bindings, NextCommandBuffer next) {
  return Recorder(plan, bindings, next).record(plan.steps);
}

Status record(const LaunchPlan& plan, const PlanBindings& bindings, hal::CommandBuffer& commands) {
  return record(plan, bindings,
                [&](std::optional<std::uint32_t>, std::uint64_t) -> Result<hal::CommandBuffer*> {
                  return &commands;
                });
}

}  // namespace texloom::runtime
