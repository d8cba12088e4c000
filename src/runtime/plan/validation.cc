#include "runtime/plan/validation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/plan/launch_count.h"
#include "runtime/plan/workspace_check.h"

namespace texloom::runtime {
namespace {

using hal::ElementType;

bool holds(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::Int32:
      return value >= std::numeric_limits<std::int32_t>::min() &&
             value <= std::numeric_limits<std::int32_t>::max();
    case ElementType::UInt32:
      return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
    case ElementType::Int64:
      return true;
    case ElementType::UInt64:
      return value >= 0;
    default:
      return false;
  }
}

// Walks the steps in the order in which they run, each loop's body once.
class Validator {
 public:
  explicit Validator(const LaunchPlan& plan)
      : plan_(plan), lives_(plan.temporaries.size(), Life::Unborn) {}

  Status check_steps(const std::vector<Step>& steps) {
    std::vector<std::uint32_t> allocated_here;
    for (const Step& step : steps) {
      if (const auto* allocate = std::get_if<AllocateStep>(&step)) {
        TL_RETURN_IF_ERROR(check_allocate(*allocate));
        allocated_here.push_back(allocate->temporary);
      } else if (const auto* free = std::get_if<FreeStep>(&step)) {
        TL_RETURN_IF_ERROR(check_free(*free, allocated_here));
      } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        TL_RETURN_IF_ERROR(check_launch(*launch));
      } else if (const auto* call = std::get_if<CallStep>(&step)) {
        TL_RETURN_IF_ERROR(check_call(*call));
      } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_RETURN_IF_ERROR(check_loop(*loop));
      }
    }
    if (extents_.empty()) return {};
    for (const std::uint32_t temporary : allocated_here)
      if (lives_[temporary] == Life::Live)
        return invalid_argument("temporary \"{}\" is allocated in a loop and not freed in it",
                                plan_.temporaries[temporary].name);
    return {};
  }

 private:
  enum class Life : std::uint8_t { Unborn, Live, Dead };

  Status check_allocate(const AllocateStep& step) {
    if (step.temporary >= lives_.size())
      return invalid_argument("allocate: temporary {} is out of range: there are {}",
                              step.temporary, lives_.size());
    Life& life = lives_[step.temporary];
    if (part_at(plan_, step.temporary) != nullptr)
      return invalid_argument("part \"{}\" is allocated, but has the memory of its whole",
                              plan_.temporaries[step.temporary].name);
    if (life != Life::Unborn)
      return invalid_argument("temporary \"{}\" is allocated twice",
                              plan_.temporaries[step.temporary].name);
    life = Life::Live;
    return {};
  }

  Status check_free(const FreeStep& step, const std::vector<std::uint32_t>& allocated_here) {
    if (step.temporary >= lives_.size())
      return invalid_argument("free: temporary {} is out of range: there are {}", step.temporary,
                              lives_.size());
    const std::string& name = plan_.temporaries[step.temporary].name;
    Life& life = lives_[step.temporary];
    if (life != Life::Live)
      return invalid_argument("temporary \"{}\" is freed while not allocated", name);
    if (std::find(allocated_here.begin(), allocated_here.end(), step.temporary) ==
        allocated_here.end())
      return invalid_argument(
          "temporary \"{}\" is freed in a loop, but allocated outside of the loop", name);
    life = Life::Dead;
    return {};
  }

  Status check_loop(const LoopStep& loop) {
    const auto extent = loop.extent.constant();
    if (extent && *extent < 0)
      return invalid_argument("loop variable {}: it has extent {}; at least 0 is required",
                              loop.slot, *extent);
    if (!is_known(loop.extent))
      return invalid_argument(
          "loop variable {}: its extent uses a symbol or a loop variable that is not defined",
          loop.slot);
    if (extents_.size() == kMaxLoopDepth)
      return invalid_argument("loops nest deeper than {}", kMaxLoopDepth);
    if (!extents_.emplace(loop.slot, loop.extent).second)
      return invalid_argument("loop variable {} is already the variable of an outer loop",
                              loop.slot);
    TL_RETURN_IF_ERROR(check_steps(loop.body));
    extents_.erase(loop.slot);
    return {};
  }

  Status check_launch(const LaunchStep& launch) {
    if (launch.kernel >= plan_.kernels.size())
      return invalid_argument("launch: kernel {} is out of range: there are {}", launch.kernel,
                              plan_.kernels.size());
    const hal::EntryPoint& entry = plan_.kernels[launch.kernel].entry;
    if (launch.operands.size() != entry.params.size())
      return invalid_argument("kernel \"{}\" takes {} operands, got {}", entry.name,
                              entry.params.size(), launch.operands.size());
    for (const Size& groups : launch.groups) {
      const auto number = groups.constant();
      if (!is_known(groups) ||
          (number && (*number < 0 || *number > std::numeric_limits<std::uint32_t>::max())))
        return invalid_argument(
            "kernel \"{}\": the grid of a launch does not fit in 32 bits, or uses an undefined "
            "symbol or loop variable",
            entry.name);
    }
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      const Status status = check_operand(entry.params[i], launch.operands[i]);
      if (!status.ok())
        return status.with_context(fmt::format("kernel \"{}\": operand {} \"{}\"", entry.name, i,
                                               hal::name_of(entry.params[i])));
    }
    return {};
  }

  Status check_call(const CallStep& step) const {
    if (step.call >= plan_.calls.size())
      return invalid_argument("call {} is out of range: there are {}", step.call,
                              plan_.calls.size());
    const OperatorCall& call = plan_.calls[step.call];
    if (step.tensors.size() != call.accesses.size())
      return invalid_argument("operator \"{}\" takes {} tensors, got {}", call.op,
                              call.accesses.size(), step.tensors.size());
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      const Status status = find(step.tensors[i], call.accesses[i]).status();
      if (!status.ok())
        return status.with_context(fmt::format("operator \"{}\": tensor {}", call.op, i));
    }
    return {};
  }

  // Whether the size uses only symbols of the plan and variables of enclosing loops.
  bool is_known(const Size& size) const {
    const std::vector<std::uint32_t> slots = size.loop_slots();
    return size.symbol_count() <= plan_.symbols.size() &&
           std::all_of(slots.begin(), slots.end(),
                       [&](std::uint32_t slot) { return extents_.contains(slot); });
  }

  Result<const TensorSpec*> find(TensorRef ref, hal::Access access) const {
    const std::vector<TensorSpec>& tensors = tensors_of(plan_, ref.kind);
    if (ref.index >= tensors.size())
      return invalid_argument("{} {} is out of range: there are {}", to_string(ref.kind), ref.index,
                              tensors.size());
    const TensorSpec& tensor = tensors[ref.index];
    if (ref.kind == TensorRef::Kind::Temporary && lives_[memory_of(plan_, ref.index)] != Life::Live)
      return invalid_argument("temporary \"{}\" is used while not allocated", tensor.name);
    if (ref.kind == TensorRef::Kind::Constant && hal::writes(access))
      return invalid_argument("constant \"{}\" is written", tensor.name);
    return &tensor;
  }

  Status check_operand(const hal::KernelParam& param, const Operand& operand) const {
    if (const auto* constant = std::get_if<hal::ConstantParam>(&param))
      return check_number(*constant, operand);
    if (!hal::is_bound(param))
      return invalid_argument(
          "the parameter is {}, but a plan passes only buffers, textures and constants",
          hal::describe(param));
    const auto* ref = std::get_if<TensorRef>(&operand);
    if (ref == nullptr) return invalid_argument("expected {}, got a number", hal::describe(param));
    TL_ASSIGN_OR_RETURN(const TensorSpec* tensor, find(*ref, hal::access_of(param)));
    if (matches(param, tensor->storage)) return {};
    std::string wanted = hal::describe(param);
    if (const auto* texture = std::get_if<hal::TextureParam>(&param))
      wanted += " of " + hal::to_string(texture->min_extent);
    if (const auto* buffer = std::get_if<hal::BufferParam>(&param))
      wanted += fmt::format(" of {} bytes", buffer->min_bytes);
    return invalid_argument("expected {}, but \"{}\" is {}", wanted, tensor->name,
                            describe(tensor->storage));
  }

  static bool matches(const hal::KernelParam& param, const TensorStorage& storage) {
    if (const auto* wanted = std::get_if<hal::TextureParam>(&param)) {
      const auto* texture = std::get_if<TextureStorage>(&storage);
      return texture != nullptr && texture->format == wanted->format &&
             hal::region_fits({}, wanted->min_extent, texture->extent);
    }
    const auto* buffer = std::get_if<BufferStorage>(&storage);
    return buffer != nullptr && buffer->bytes >= std::get<hal::BufferParam>(param).min_bytes;
  }

  Status check_scalar(const hal::ConstantParam& param, ScalarValue value) const {
    if (value.scalar >= plan_.scalars.size())
      return invalid_argument("scalar {} is out of range: there are {}", value.scalar,
                              plan_.scalars.size());
    const ScalarSpec& scalar = plan_.scalars[value.scalar];
    if (scalar.element == param.type) return {};
    return invalid_argument("expected {}, but the scalar \"{}\" is {}", hal::describe(param),
                            scalar.name, hal::to_string(scalar.element));
  }

  Status check_number(const hal::ConstantParam& param, const Operand& operand) const {
    if (const auto* scalar = std::get_if<ScalarValue>(&operand))
      return check_scalar(param, *scalar);
    std::int64_t largest = 0;
    if (const auto* immediate = std::get_if<Immediate>(&operand)) {
      largest = immediate->value;
    } else if (const auto* variable = std::get_if<LoopVariable>(&operand)) {
      const auto extent = extents_.find(variable->slot);
      if (extent == extents_.end())
        return invalid_argument(
            "loop variable {} has no loop around it: only a step in the body of a loop may use the "
            "loop's variable",
            variable->slot);
      // Only constant extents are checked; the limit for a run (kMaxLaunches) bounds all others.
      largest = std::max<std::int64_t>(extent->second.constant().value_or(0) - 1, 0);
    } else if (const auto* symbol = std::get_if<SymbolValue>(&operand)) {
      if (symbol->symbol >= plan_.symbols.size())
        return invalid_argument("symbol {} is out of range: there are {}", symbol->symbol,
                                plan_.symbols.size());
    } else if (const auto* expression = std::get_if<SizeValue>(&operand)) {
      const Size& size = expression->size;
      if (size.symbol_count() > plan_.symbols.size())
        return invalid_argument(
            "a size has a symbol that is not in the plan: it uses symbol {}, but there are {}",
            size.symbol_count() - 1, plan_.symbols.size());
      if (!size.loop_slots().empty())
        return invalid_argument("a size uses loop variable {}, but may use only symbols",
                                size.loop_slots().front());
      largest = size.constant().value_or(0);
    } else if (const auto* origin = std::get_if<OriginOf>(&operand)) {
      TL_ASSIGN_OR_RETURN(const TensorSpec* tensor, find(origin->tensor, hal::Access::Read));
      if (!std::holds_alternative<TextureStorage>(tensor->storage))
        return invalid_argument("\"{}\" has no origin: it is a buffer", tensor->name);
    } else {
      return invalid_argument("expected {}, got a tensor", hal::describe(param));
    }
    if (holds(param.type, largest)) return {};
    return invalid_argument("a constant {} cannot hold {}", hal::to_string(param.type), largest);
  }

  const LaunchPlan& plan_;
  std::vector<Life> lives_;
  std::map<std::uint32_t, Size> extents_;  // of the enclosing loops, by slot
};

// The size of a texture at the call follows from its layout.
Status check_open(const TensorSpec& tensor) {
  const auto* texture = std::get_if<TextureStorage>(&tensor.storage);
  if (texture == nullptr) return {};
  if (texture->extent != hal::Extent2D{} || !tensor.layout.shape.empty())
    return invalid_argument(
        "the texture \"{}\" has a constant size, but its shape has symbols, so its size must "
        "follow from the call",
        tensor.name);
  if (number_count(tensor.layout.lanes) != 4)
    return invalid_argument("the texture \"{}\" has neither a constant shape nor a layout",
                            tensor.name);
  for (const auto* digits : {&tensor.layout.rows, &tensor.layout.cols, &tensor.layout.lanes}) {
    for (const LayoutDigit& digit : *digits) {
      if (digit.axis < tensor.shape.size() && digit.divisor >= 1 && digit.extent >= 0) continue;
      return invalid_argument(
          "the layout of the texture \"{}\" has a digit with an unknown axis, a divisor below 1 or "
          "a negative extent",
          tensor.name);
    }
  }
  return {};
}

Status check_tensors(const LaunchPlan& plan) {
  for (const auto* tensors : {&plan.arguments, &plan.temporaries, &plan.constants}) {
    for (const TensorSpec& tensor : *tensors) {
      if (are_counters(tensor.storage) && tensors != &plan.temporaries)
        return invalid_argument("\"{}\" has counters of blocks, which only a temporary may have",
                                tensor.name);
      for (const Size& extent : tensor.shape) {
        if (extent.symbol_count() > plan.symbols.size() || !extent.loop_slots().empty())
          return invalid_argument("the shape of \"{}\" has a symbol that is not in the plan",
                                  tensor.name);
        if (extent.constant()) continue;
        TL_RETURN_IF_ERROR(check_open(tensor));
        if (tensors == &plan.constants)
          return invalid_argument(
              "the shape of constant \"{}\" has a symbol; only numbers are allowed", tensor.name);
      }
    }
  }
  return {};
}

// Whether the part lies in the whole, and no kernel needs the part to have an image of its own.
bool lies_within(const TensorStorage& tensor, const PartOfTemporary& part,
                 const TensorStorage& whole) {
  if (tensor.index() != whole.index()) return false;
  if (are_counters(tensor) || are_counters(whole)) return false;
  if (const auto* buffer = std::get_if<BufferStorage>(&tensor))
    return part.origin == hal::Offset2D{} &&
           hal::range_fits(part.offset, buffer->bytes, std::get<BufferStorage>(whole).bytes);
  const auto& texture = std::get<TextureStorage>(tensor);
  const auto& image = std::get<TextureStorage>(whole);
  return part.offset == 0 && texture.format == image.format && !texture.exact_extent &&
         hal::region_fits(part.origin, texture.extent, image.extent);
}

Status check_conditions(const LaunchPlan& plan) {
  for (const SizeCondition& condition : plan.conditions) {
    for (const Size* size : {&condition.left, &condition.right}) {
      if (size->symbol_count() > plan.symbols.size() || !size->loop_slots().empty())
        return invalid_argument("a condition of {} has a symbol that is not in the plan",
                                condition.subject);
    }
  }
  return {};
}

// If sizes depend on the call, the plan of each call is checked again.
Status check_parts(const LaunchPlan& plan) {
  const PartOfTemporary* previous = nullptr;
  for (const PartOfTemporary& part : plan.parts) {
    const std::size_t count = plan.temporaries.size();
    if (part.temporary >= count || part.whole >= count)
      return invalid_argument("temporary {} is part of temporary {}, but there are {} temporaries",
                              part.temporary, part.whole, count);
    if (previous != nullptr && previous->temporary >= part.temporary)
      return invalid_argument(
          "parts are not listed by increasing temporary, or one is listed twice");
    previous = &part;
    const TensorSpec& tensor = plan.temporaries[part.temporary];
    const TensorSpec& whole = plan.temporaries[part.whole];
    if (!lies_within(tensor.storage, part, whole.storage))
      return invalid_argument("\"{}\" ({}) is not a part of \"{}\" ({})", tensor.name,
                              describe(tensor.storage), whole.name, describe(whole.storage));
  }
  for (const PartOfTemporary& part : plan.parts) {
    if (part_at(plan, part.whole) != nullptr)
      return invalid_argument("\"{}\" is part of \"{}\", which is a part itself",
                              plan.temporaries[part.temporary].name,
                              plan.temporaries[part.whole].name);
  }
  return {};
}

Status check_kernels(const LaunchPlan& plan) {
  std::set<std::pair<std::uint32_t, std::string_view>> names;
  for (const KernelSpec& kernel : plan.kernels) {
    if (kernel.module >= plan.modules.size())
      return invalid_argument("kernel \"{}\": module {} is out of range: there are {}",
                              kernel.entry.name, kernel.module, plan.modules.size());
    if (!names.emplace(kernel.module, kernel.entry.name).second)
      return invalid_argument("module {} has two kernels \"{}\"", kernel.module, kernel.entry.name);
  }
  return {};
}

}  // namespace

Status validate(const LaunchPlan& plan) {
  TL_RETURN_IF_ERROR(check_tensors(plan));
  TL_RETURN_IF_ERROR(check_conditions(plan));
  TL_RETURN_IF_ERROR(check_kernels(plan));
  TL_RETURN_IF_ERROR(check_parts(plan));
  TL_RETURN_IF_ERROR(Validator(plan).check_steps(plan.steps));
  if (plan.workspace) TL_RETURN_IF_ERROR(check_workspace(plan));
  return plan.symbols.empty() ? launches_of(plan.steps).status() : Status();
}

}  // namespace texloom::runtime
