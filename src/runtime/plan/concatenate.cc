#include "runtime/plan/concatenate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runtime/plan/symbols.h"

namespace texloom::runtime {
namespace {

bool provides(const TensorStorage& given, const TensorStorage& wanted) {
  if (given.index() != wanted.index()) return false;
  if (const auto* texture = std::get_if<TextureStorage>(&wanted)) {
    const auto& image = std::get<TextureStorage>(given);
    return image.format == texture->format && hal::region_fits({}, texture->extent, image.extent) &&
           (!texture->exact_extent || image.exact_extent);
  }
  return std::get<BufferStorage>(given).bytes >= std::get<BufferStorage>(wanted).bytes;
}

// Whether texels are at the same places, for any values of symbols. If the size of a tensor does
// not depend on symbols, the layouts are not compared.
bool agree(const TensorSpec& given, const TensorSpec& wanted) {
  const auto is_number = [](const Size& extent) { return extent.constant().has_value(); };
  for (const TensorSpec* tensor : {&given, &wanted}) {
    if (std::all_of(tensor->shape.begin(), tensor->shape.end(), is_number)) return true;
  }
  return given.layout == wanted.layout;
}

class Concatenation {
 public:
  Concatenation(PlanTensors tensors, std::span<const PlanPart> parts)
      : parts_(parts), shared_(tensors.temporaries.size()) {
    whole_.symbols = std::move(tensors.symbols);
    whole_.conditions = std::move(tensors.conditions);
    whole_.arguments = std::move(tensors.arguments);
    whole_.temporaries = std::move(tensors.temporaries);
    whole_.constants = std::move(tensors.constants);
    whole_.parts = std::move(tensors.parts);
    std::sort(whole_.parts.begin(), whole_.parts.end(),
              [](const auto& a, const auto& b) { return a.temporary < b.temporary; });
  }

  Result<LaunchPlan> make(std::vector<std::size_t>* plan_of_step) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Status status = check(parts_[i]);
      if (!status.ok()) return status.with_context(fmt::format("part {}", i));
    }
    find_lifetimes();
    if (plan_of_step != nullptr) plan_of_step->clear();
    for (std::uint32_t i = 0; i < shared_; ++i) {
      if (memory_of(whole_, i) == i && lifetimes_[i].first == parts_.size())
        return invalid_argument("no part uses temporary \"{}\"", whole_.temporaries[i].name);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      TL_RETURN_IF_ERROR(append(i).with_context(fmt::format("part {}", i)));
      if (plan_of_step != nullptr) plan_of_step->resize(whole_.steps.size(), i);
    }
    return std::move(whole_);
  }

 private:
  Status check(const PlanPart& part) const {
    const std::vector<TensorSpec>& wanted = part.plan->arguments;
    if (part.arguments.size() != wanted.size())
      return invalid_argument("it takes {} arguments, got {}", wanted.size(),
                              part.arguments.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const TensorRef ref = part.arguments[i];
      const std::vector<TensorSpec>& tensors = tensors_of(whole_, ref.kind);
      if (ref.index >= tensors.size())
        return invalid_argument("argument \"{}\" is {} {}, but there are {}", wanted[i].name,
                                to_string(ref.kind), ref.index, tensors.size());
      const TensorSpec& given = tensors[ref.index];
      if (given.element == wanted[i].element && provides(given.storage, wanted[i].storage) &&
          agree(given, wanted[i]))
        continue;
      return invalid_argument("argument \"{}\" is {}, but \"{}\" is {}", wanted[i].name,
                              describe(wanted[i].storage), given.name, describe(given.storage));
    }
    return {};
  }

  // Finds the parts that name each temporary of the whole, or a temporary that is part of it.
  void find_lifetimes() {
    lifetimes_.assign(shared_, {parts_.size(), parts_.size()});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (const TensorRef& ref : parts_[i].arguments) {
        if (ref.kind != TensorRef::Kind::Temporary) continue;
        auto& [first, last] = lifetimes_[memory_of(whole_, ref.index)];
        first = std::min(first, i);
        last = i;
      }
    }
  }

  std::optional<Size> symbol_named(const std::string& name) const {
    const auto named = std::find(whole_.symbols.begin(), whole_.symbols.end(), name);
    if (named == whole_.symbols.end()) return std::nullopt;
    return Size::symbol(static_cast<std::uint32_t>(named - whole_.symbols.begin()));
  }

  // The values of the part's symbols in the whole.
  Result<std::vector<Size>> symbols_of(const PlanPart& part) const {
    std::vector<std::optional<Size>> found(part.plan->symbols.size());
    for (std::size_t i = 0; i < part.arguments.size(); ++i) {
      const std::vector<Size>& own = part.plan->arguments[i].shape;
      const TensorSpec& given = tensor_of(whole_, part.arguments[i]);
      if (own.size() != given.shape.size())
        return invalid_argument("argument \"{}\" has {} axes, but \"{}\" has {}",
                                part.plan->arguments[i].name, own.size(), given.name,
                                given.shape.size());
      for (std::size_t axis = 0; axis < own.size(); ++axis) {
        if (own[axis].steps().size() != 1 || own[axis].constant()) continue;
        std::optional<Size>& symbol = found[own[axis].symbol_count() - 1];
        if (!symbol) symbol = given.shape[axis];
      }
    }
    std::vector<Size> symbols;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) found[i] = symbol_named(part.plan->symbols[i]);
      if (!found[i])
        return invalid_argument("no extent of an argument consists of the symbol \"{}\" alone",
                                part.plan->symbols[i]);
      symbols.push_back(*found[i]);
    }
    return symbols;
  }

  Status append(std::size_t number) {
    const PlanPart& part = parts_[number];
    std::vector<Size> symbols;
    if (!part.plan->symbols.empty()) {
      TL_ASSIGN_OR_RETURN(symbols, symbols_of(part));
    }
    for (std::uint32_t i = 0; i < shared_; ++i) {
      if (lifetimes_[i].first == number) whole_.steps.emplace_back(AllocateStep{i});
    }
    const Numbers numbers{part.arguments,
                          static_cast<std::uint32_t>(whole_.temporaries.size()),
                          static_cast<std::uint32_t>(whole_.constants.size()),
                          scalars_of(part),
                          static_cast<std::uint32_t>(whole_.calls.size()),
                          kernels_of(*part.plan),
                          std::move(symbols)};
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (TensorSpec temporary : part.plan->temporaries) {
      TL_RETURN_IF_ERROR(numbers.substitute(temporary));
      whole_.temporaries.push_back(std::move(temporary));
    }
    for (SizeCondition condition : part.plan->conditions) {
      TL_RETURN_IF_ERROR(numbers.substitute(condition.left));
      TL_RETURN_IF_ERROR(numbers.substitute(condition.right));
      whole_.conditions.push_back(std::move(condition));
    }
    for (PartOfTemporary own : part.plan->parts) {
      own.temporary += numbers.first_temporary;
      own.whole += numbers.first_temporary;
      whole_.parts.push_back(own);
    }
    add(whole_.constants, part.plan->constants);
    add(whole_.calls, part.plan->calls);
    TL_ASSIGN_OR_RETURN(auto steps, renumbered(part.plan->steps, numbers));
    add(whole_.steps, steps);
    for (std::uint32_t i = 0; i < shared_; ++i) {
      if (lifetimes_[i].second == number) whole_.steps.emplace_back(FreeStep{i});
    }
    return {};
  }

  // Maps the indices in a part's steps to indices in the whole.
  struct Numbers {
    const std::vector<TensorRef>& arguments;
    std::uint32_t first_temporary;
    std::uint32_t first_constant;
    std::vector<Operand> scalars;
    std::uint32_t first_call;
    std::vector<std::uint32_t> kernels;
    std::vector<Size> symbols;  // the part's symbols, in terms of the whole's symbols

    Status substitute(Size& size) const {
      if (size.symbol_count() == 0) return {};
      TL_ASSIGN_OR_RETURN(size, size.with_symbols(symbols));
      return {};
    }
    Status substitute(TensorSpec& tensor) const {
      if (std::all_of(tensor.shape.begin(), tensor.shape.end(),
                      [](const Size& extent) { return extent.constant().has_value(); }))
        return {};
      std::vector<Size> shape = tensor.shape;
      std::vector<std::int64_t> known;
      for (Size& extent : shape) {
        TL_RETURN_IF_ERROR(substitute(extent));
        if (const auto number = extent.constant()) known.push_back(*number);
      }
      if (known.size() == shape.size()) {
        TL_ASSIGN_OR_RETURN(tensor, with_shape(tensor, known));
        tensor.layout = {};  // only arrays of callers have a layout
      } else {
        tensor.shape = std::move(shape);
      }
      return {};
    }

    TensorRef of(const TensorRef& ref) const {
      if (ref.kind == TensorRef::Kind::Argument) return arguments[ref.index];
      const bool is_temporary = ref.kind == TensorRef::Kind::Temporary;
      return {ref.kind, ref.index + (is_temporary ? first_temporary : first_constant)};
    }
  };

  // The values of the part's scalars in the whole: symbols of the same names, or scalars that this
  // function adds to the whole.
  std::vector<Operand> scalars_of(const PlanPart& part) {
    std::vector<Operand> operands;
    for (const ScalarSpec& scalar : part.plan->scalars) {
      if (const auto symbol = symbol_named(scalar.name)) {
        operands.push_back(operand_of(*symbol));
        continue;
      }
      operands.emplace_back(ScalarValue{static_cast<std::uint32_t>(whole_.scalars.size())});
      whole_.scalars.push_back(scalar);
    }
    return operands;
  }

  std::vector<std::uint32_t> kernels_of(const LaunchPlan& part) {
    std::vector<std::uint32_t> numbers;
    std::map<std::uint32_t, std::uint32_t> modules;  // modules of the part that the whole lacks
    for (const KernelSpec& kernel : part.kernels) {
      const ModuleSpec& module = part.modules[kernel.module];
      const auto known =
          std::find_if(whole_.kernels.begin(), whole_.kernels.end(), [&](const KernelSpec& each) {
            return each.entry == kernel.entry && whole_.modules[each.module] == module;
          });
      numbers.push_back(static_cast<std::uint32_t>(known - whole_.kernels.begin()));
      if (known != whole_.kernels.end()) continue;
      const auto [added, is_new] =
          modules.emplace(kernel.module, static_cast<std::uint32_t>(whole_.modules.size()));
      if (is_new) whole_.modules.push_back(module);
      whole_.kernels.push_back({added->second, kernel.entry});
    }
    return numbers;
  }

  static Result<std::vector<Step>> renumbered(std::vector<Step> steps, const Numbers& numbers) {
    for (Step& step : steps) {
      if (auto* allocate = std::get_if<AllocateStep>(&step)) {
        allocate->temporary += numbers.first_temporary;
      } else if (auto* free = std::get_if<FreeStep>(&step)) {
        free->temporary += numbers.first_temporary;
      } else if (auto* loop = std::get_if<LoopStep>(&step)) {
        TL_RETURN_IF_ERROR(numbers.substitute(loop->extent));
        TL_ASSIGN_OR_RETURN(loop->body, renumbered(std::move(loop->body), numbers));
      } else if (auto* call = std::get_if<CallStep>(&step)) {
        call->call += numbers.first_call;
        for (TensorRef& ref : call->tensors) ref = numbers.of(ref);
      } else if (auto* launch = std::get_if<LaunchStep>(&step)) {
        TL_RETURN_IF_ERROR(renumber(*launch, numbers));
      }
    }
    return steps;
  }

  static Status renumber(LaunchStep& launch, const Numbers& numbers) {
    launch.kernel = numbers.kernels[launch.kernel];
    for (Size& groups : launch.groups) TL_RETURN_IF_ERROR(numbers.substitute(groups));
    for (Operand& operand : launch.operands) {
      if (auto* ref = std::get_if<TensorRef>(&operand)) *ref = numbers.of(*ref);
      if (auto* origin = std::get_if<OriginOf>(&operand))
        origin->tensor = numbers.of(origin->tensor);
      if (auto* scalar = std::get_if<ScalarValue>(&operand)) {
        operand = Operand(numbers.scalars[scalar->scalar]);
      } else if (auto* symbol = std::get_if<SymbolValue>(&operand))
        operand = operand_of(numbers.symbols[symbol->symbol]);
      else if (auto* expression = std::get_if<SizeValue>(&operand))
        TL_RETURN_IF_ERROR(numbers.substitute(expression->size));
    }
    return {};
  }

  static Operand operand_of(const Size& size) {
    if (const auto number = size.constant()) return Immediate{*number};
    const bool is_symbol = size.steps().size() == 1;
    if (is_symbol) return SymbolValue{static_cast<std::uint32_t>(size.symbol_count() - 1)};
    return SizeValue{size};
  }

  std::span<const PlanPart> parts_;
  std::size_t shared_;  // the number of temporaries of the whole
  // For each temporary of the whole, the first and the last part that use its memory; the number of
  // parts if no part does.
  std::vector<std::pair<std::size_t, std::size_t>> lifetimes_;
  LaunchPlan whole_;
};

}  // namespace

Result<LaunchPlan> concatenate(PlanTensors tensors, std::span<const PlanPart> parts,
                               std::vector<std::size_t>* plan_of_step) {
  return Concatenation(std::move(tensors), parts).make(plan_of_step);
}

}  // namespace texloom::runtime
