#include "runtime/plan/symbols.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace texloom::runtime {
namespace {

// The limit of a symbol, and of the number of elements of an array: kernels compute in int32, and
// round up to whole tiles.
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

bool has_symbols(const TensorSpec& tensor) {
  return std::any_of(tensor.shape.begin(), tensor.shape.end(),
                     [](const Size& extent) { return !extent.constant(); });
}

class Binder {
 public:
  // A null shape stands for an array that is not given.
  Binder(const LaunchPlan& plan, std::vector<const Shape*> shapes, const GivenSymbols& given)
      : plan_(plan), shapes_(std::move(shapes)), values_(plan.symbols.size(), 0) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      known_.push_back(i < given.size() && given[i].has_value());
      if (known_.back()) values_[i] = *given[i];
    }
  }

  Result<std::vector<std::int64_t>> bind() {
    if (shapes_.size() != plan_.arguments.size())
      return invalid_argument("the program takes {} arguments, got {}", plan_.arguments.size(),
                              shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i] != nullptr) TL_RETURN_IF_ERROR(check_rank(i));
    }
    TL_RETURN_IF_ERROR(check_values());
    bool more = true;
    while (more) {
      more = false;
      for (std::size_t i = 0; i < shapes_.size(); ++i) {
        if (shapes_[i] == nullptr) continue;
        for (std::size_t axis = 0; axis < shapes_[i]->size(); ++axis) {
          TL_ASSIGN_OR_RETURN(const bool solved, solve(i, axis));
          more = more || solved;
        }
      }
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!known_[i])
        return invalid_argument("no argument's shape determines \"{}\"", plan_.symbols[i]);
    }
    TL_RETURN_IF_ERROR(check_values());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i] != nullptr) TL_RETURN_IF_ERROR(check_shape(i));
    }
    for (const SizeCondition& condition : plan_.conditions) TL_RETURN_IF_ERROR(check(condition));
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i] == nullptr) TL_RETURN_IF_ERROR(check_shape(i));
    }
    return std::move(values_);
  }

 private:
  std::string place(std::size_t argument, std::size_t axis) const {
    return fmt::format("axis {} of argument {} \"{}\"", axis, argument,
                       plan_.arguments[argument].name);
  }

  Status check_values() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] >= -kLargest && values_[i] <= kLargest) continue;
      return invalid_argument("\"{}\" is {}, which is beyond 2^30", plan_.symbols[i], values_[i]);
    }
    return {};
  }

  Status check_rank(std::size_t i) const {
    const std::size_t rank = plan_.arguments[i].shape.size();
    if (shapes_[i]->size() == rank) return {};
    return invalid_argument("argument {} \"{}\" has {} axes, but the array has {}", i,
                            plan_.arguments[i].name, rank, shapes_[i]->size());
  }

  // Returns whether the extent determines a symbol that was not known.
  Result<bool> solve(std::size_t argument, std::size_t axis) {
    const Size& extent = plan_.arguments[argument].shape[axis];
    const auto symbol = extent.solvable_symbol(known_);
    if (!symbol) return false;
    // The extent is factor * symbol + rest, so its values at 0 and 1 give both numbers.
    values_[*symbol] = 0;
    TL_ASSIGN_OR_RETURN(const std::int64_t rest, extent.at(values_));
    values_[*symbol] = 1;
    TL_ASSIGN_OR_RETURN(const std::int64_t next, extent.at(values_));
    const std::int64_t factor = next - rest, wanted = (*shapes_[argument])[axis] - rest;
    if (factor == 0) return false;
    if (wanted % factor != 0)
      return invalid_argument("{} is {}, expected {}", place(argument, axis),
                              (*shapes_[argument])[axis], extent.text(plan_.symbols));
    values_[*symbol] = wanted / factor;
    known_[*symbol] = true;
    return true;
  }

  Status check_shape(std::size_t i) const {
    const std::vector<Size>& shape = plan_.arguments[i].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      TL_ASSIGN_OR_RETURN(const std::int64_t expected, shape[axis].at(values_));
      if (shapes_[i] != nullptr && expected != (*shapes_[i])[axis]) {
        const std::string is =
            shape[axis].constant() ? "" : fmt::format("{} = ", shape[axis].text(plan_.symbols));
        return invalid_argument("{} is {}, expected {}{}", place(i, axis), (*shapes_[i])[axis], is,
                                expected);
      }
      if (expected < 0)
        return invalid_argument("{} is {}, expected at least 0", place(i, axis), expected);
    }
    return {};
  }

  Status check(const SizeCondition& condition) const {
    TL_ASSIGN_OR_RETURN(const std::int64_t left, condition.left.at(values_));
    TL_ASSIGN_OR_RETURN(const std::int64_t right, condition.right.at(values_));
    const bool is_equality = condition.kind == SizeCondition::Kind::Equal;
    if (is_equality ? left == right : left >= right) return {};
    std::string values;
    for (std::size_t i = 0; i < values_.size(); ++i)
      values += fmt::format("{}{} = {}", i == 0 ? "" : ", ", plan_.symbols[i], values_[i]);
    const auto described = [&](const Size& size, std::int64_t value) {
      return size.constant() ? fmt::to_string(value)
                             : fmt::format("{} = {}", size.text(plan_.symbols), value);
    };
    return invalid_argument("{} needs {} to be {}, but it is {}, for {}", condition.subject,
                            condition.left.text(plan_.symbols),
                            (is_equality ? "" : "at least ") + described(condition.right, right),
                            left, values);
  }

  const LaunchPlan& plan_;
  std::vector<const Shape*> shapes_;
  std::vector<std::int64_t> values_;
  std::vector<bool> known_;
};

class Instance {
 public:
  Instance(const LaunchPlan& plan, std::span<const std::int64_t> symbols)
      : plan_(plan), symbols_(symbols) {}

  Result<LaunchPlan> plan() {
    if (symbols_.size() != plan_.symbols.size())
      return invalid_argument("the plan has {} symbols, got {}", plan_.symbols.size(),
                              symbols_.size());
    LaunchPlan result = plan_;
    result.symbols.clear();
    result.conditions.clear();
    for (TensorSpec& tensor : result.arguments) TL_RETURN_IF_ERROR(fix(tensor));
    for (TensorSpec& tensor : result.temporaries) TL_RETURN_IF_ERROR(fix(tensor));
    TL_RETURN_IF_ERROR(fix(result.steps));
    return result;
  }

 private:
  Status fix(TensorSpec& tensor) const {
    if (!has_symbols(tensor)) return {};
    std::vector<std::int64_t> shape;
    for (const Size& extent : tensor.shape) {
      TL_ASSIGN_OR_RETURN(const std::int64_t value, extent.at(symbols_));
      shape.push_back(value);
    }
    TL_ASSIGN_OR_RETURN(tensor, with_shape(tensor, shape));
    return {};
  }

  Result<Size> at_least_zero(const Size& size) const {
    TL_ASSIGN_OR_RETURN(Size known, size.with_symbols(symbols_));
    if (const auto value = known.constant()) return Size(std::max<std::int64_t>(*value, 0));
    return known;
  }

  Status fix(std::vector<Step>& steps) const {
    for (Step& step : steps) {
      if (auto* loop = std::get_if<LoopStep>(&step)) {
        TL_ASSIGN_OR_RETURN(loop->extent, at_least_zero(loop->extent));
        TL_RETURN_IF_ERROR(fix(loop->body));
      }
      if (auto* launch = std::get_if<LaunchStep>(&step)) TL_RETURN_IF_ERROR(fix(*launch));
    }
    return {};
  }

  Status fix(LaunchStep& launch) const {
    for (Size& groups : launch.groups) {
      TL_ASSIGN_OR_RETURN(groups, at_least_zero(groups));
    }
    for (Operand& operand : launch.operands) {
      if (const auto* symbol = std::get_if<SymbolValue>(&operand)) {
        operand = Immediate{symbols_[symbol->symbol]};
      } else if (const auto* expression = std::get_if<SizeValue>(&operand)) {
        TL_ASSIGN_OR_RETURN(const std::int64_t value, expression->size.at(symbols_));
        operand = Immediate{value};
      }
    }
    return {};
  }

  const LaunchPlan& plan_;
  std::span<const std::int64_t> symbols_;
};

}  // namespace

Result<std::vector<std::int64_t>> bind_symbols(const LaunchPlan& plan,
                                               std::span<const Shape> shapes,
                                               const GivenSymbols& given) {
  std::vector<const Shape*> all;
  for (const Shape& shape : shapes) all.push_back(&shape);
  return Binder(plan, std::move(all), given).bind();
}

Result<std::vector<Shape>> complete_shapes(const LaunchPlan& plan,
                                           std::span<const std::optional<Shape>> shapes,
                                           const GivenSymbols& given) {
  std::vector<const Shape*> some;
  for (const std::optional<Shape>& shape : shapes) some.push_back(shape ? &*shape : nullptr);
  TL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> values,
                      Binder(plan, std::move(some), given).bind());
  std::vector<Shape> all(plan.arguments.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Size& extent : plan.arguments[i].shape) {
      TL_ASSIGN_OR_RETURN(const std::int64_t value, extent.at(values));
      all[i].push_back(value);
    }
  }
  return all;
}

// An empty array or texture gets one element, which no step uses.
Result<TensorSpec> with_shape(const TensorSpec& tensor, std::span<const std::int64_t> shape) {
  if (!has_symbols(tensor)) return tensor;
  TensorSpec known = tensor;
  known.shape.assign(shape.begin(), shape.end());
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    extents.push_back(std::max<std::int64_t>(extent, 1));
    if (extents.back() > kLargest / elements)
      return invalid_argument("\"{}\" has more than 2^30 elements", tensor.name);
    elements *= extents.back();
  }
  if (auto* texture = std::get_if<TextureStorage>(&known.storage)) {
    auto layout = with_shape(std::move(known.layout), std::move(extents));
    if (!layout)
      return invalid_argument("\"{}\" needs an image of more than 2^32 - 1 rows or columns",
                              tensor.name);
    texture->extent = {static_cast<std::uint32_t>(number_count(layout->cols)),
                       static_cast<std::uint32_t>(number_count(layout->rows))};
    known.layout = *std::move(layout);
    return known;
  }
  std::get<BufferStorage>(known.storage).bytes =
      static_cast<std::uint64_t>(elements) * hal::byte_size(tensor.element);
  known.layout = row_major(std::move(extents));
  return known;
}

Result<LaunchPlan> instantiate(const LaunchPlan& plan, std::span<const std::int64_t> symbols) {
  return Instance(plan, symbols).plan();
}

}  // namespace texloom::runtime
