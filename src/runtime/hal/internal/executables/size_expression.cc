#include "runtime/hal/size_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "support/floor_division.h"

namespace texloom::hal {
namespace {

bool divides(std::int64_t a, std::int64_t b) {
  return b != 0 && (b != -1 || a != std::numeric_limits<std::int64_t>::min());
}

// Computes `a op b`; nullopt if the result has no value that fits in 64 bits.
std::optional<std::int64_t> computed(Size::Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Size::Op::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Size::Op::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Size::Op::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Size::Op::FloorDiv:
      return divides(a, b) ? std::optional(floor_div(a, b)) : std::nullopt;
    case Size::Op::FloorMod:
      return divides(a, b) ? std::optional(floor_mod(a, b)) : std::nullopt;
    case Size::Op::Min:
      return std::min(a, b);
    case Size::Op::Max:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

bool is_leaf(Size::Op op) {
  return op == Size::Op::Constant || op == Size::Op::Symbol || op == Size::Op::LoopVariable;
}

std::string spelled(Size::Op op, const std::string& a, const std::string& b) {
  switch (op) {
    case Size::Op::Add:
      return fmt::format("({} + {})", a, b);
    case Size::Op::Sub:
      return fmt::format("({} - {})", a, b);
    case Size::Op::Mul:
      return fmt::format("{} * {}", a, b);
    case Size::Op::FloorDiv:
      return fmt::format("floordiv({}, {})", a, b);
    case Size::Op::FloorMod:
      return fmt::format("floormod({}, {})", a, b);
    case Size::Op::Min:
      return fmt::format("min({}, {})", a, b);
    default:
      return fmt::format("max({}, {})", a, b);
  }
}

}  // namespace

Size Size::symbol(std::uint32_t number) {
  Size size;
  size.steps_.push_back({Op::Symbol, number});
  return size;
}

Size Size::loop_variable(std::uint32_t slot) {
  Size size;
  size.steps_.push_back({Op::LoopVariable, slot});
  return size;
}

Size Size::of(Op op, const Size& a, const Size& b) {
  Size size;
  size.steps_ = a.steps_;
  size.steps_.insert(size.steps_.end(), b.steps_.begin(), b.steps_.end());
  size.steps_.push_back({op, 0});
  return size;
}

Result<Size> Size::from_steps(std::vector<Step> steps) {
  std::size_t results = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.op > Op::Max)
      return invalid_argument("step {} of a size has operator {}; operators are numbered 0 to {}",
                              i, static_cast<int>(step.op), static_cast<int>(Op::Max));
    if (!is_leaf(step.op)) {
      if (results < 2)
        return invalid_argument("step {} of a size has an operator with {} operands, not two", i,
                                results);
      --results;
      continue;
    }
    ++results;
    if (step.op != Op::Constant &&
        (step.value < 0 || step.value > std::numeric_limits<std::uint32_t>::max()))
      return invalid_argument(
          "step {} of a size uses the symbol or loop variable {}, whose number must fit in 32 bits",
          i, step.value);
  }
  if (results != 1)
    return invalid_argument("the steps of a size leave {} values, not one", results);
  Size size;
  size.steps_ = std::move(steps);
  return size;
}

std::optional<std::int64_t> Size::constant() const {
  if (steps_.size() == 1 && steps_[0].op == Op::Constant) return steps_[0].value;
  return std::nullopt;
}

std::size_t Size::symbol_count() const {
  std::int64_t count = 0;
  for (const Step& step : steps_) {
    if (step.op == Op::Symbol) count = std::max(count, step.value + 1);
  }
  return static_cast<std::size_t>(count);
}

std::vector<std::uint32_t> Size::loop_slots() const {
  std::vector<std::uint32_t> slots;
  for (const Step& step : steps_) {
    if (step.op == Op::LoopVariable) slots.push_back(static_cast<std::uint32_t>(step.value));
  }
  return slots;
}

Result<Size> Size::with_symbols(std::span<const std::int64_t> symbols) const {
  if (loop_slots().empty()) {
    TL_ASSIGN_OR_RETURN(const std::int64_t value, at(symbols));
    return Size(value);
  }
  Size result = *this;
  for (Step& step : result.steps_) {
    if (step.op != Op::Symbol) continue;
    const auto number = static_cast<std::size_t>(step.value);
    if (number >= symbols.size())
      return invalid_argument("symbol {} is out of range: there are {}", number, symbols.size());
    step = {Op::Constant, symbols[number]};
  }
  return result;
}

Result<Size> Size::with_symbols(std::span<const Size> symbols) const {
  std::vector<Size> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::Symbol) {
      const auto number = static_cast<std::size_t>(step.value);
      if (number >= symbols.size())
        return invalid_argument("symbol {} is out of range: there are {}", number, symbols.size());
      stack.push_back(symbols[number]);
    } else if (is_leaf(step.op)) {
      Size leaf;
      leaf.steps_.push_back(step);
      stack.push_back(std::move(leaf));
    } else {
      const Size b = std::move(stack.back());
      stack.pop_back();
      const auto left = stack.back().constant(), right = b.constant();
      stack.back() = of(step.op, stack.back(), b);
      if (!left || !right) continue;
      TL_ASSIGN_OR_RETURN(stack.back(), stack.back().at({}));
    }
  }
  return std::move(stack.back());
}

Result<std::int64_t> Size::at(std::span<const std::int64_t> symbols,
                              const LoopValues& variables) const {
  std::vector<std::int64_t> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::Constant) {
      stack.push_back(step.value);
    } else if (step.op == Op::Symbol) {
      const auto number = static_cast<std::size_t>(step.value);
      if (number >= symbols.size())
        return invalid_argument("symbol {} is out of range: there are {}", number, symbols.size());
      stack.push_back(symbols[number]);
    } else if (step.op == Op::LoopVariable) {
      const auto variable = variables.find(static_cast<std::uint32_t>(step.value));
      if (variable == variables.end())
        return invalid_argument("loop variable {} has no loop around it", step.value);
      stack.push_back(variable->second);
    } else {
      const std::int64_t b = stack.back();
      stack.pop_back();
      const auto result = computed(step.op, stack.back(), b);
      if (!result)
        return invalid_argument("{} has no value that fits in 64 bits",
                                spelled(step.op, fmt::to_string(stack.back()), fmt::to_string(b)));
      stack.back() = *result;
    }
  }
  return stack.back();
}

std::optional<std::uint32_t> Size::solvable_symbol(const std::vector<bool>& known) const {
  std::optional<std::uint32_t> symbol;
  for (const Step& step : steps_) {
    if (step.op == Op::Symbol && !known.at(static_cast<std::size_t>(step.value))) {
      if (symbol) return std::nullopt;
      symbol = static_cast<std::uint32_t>(step.value);
    }
    const bool affine =
        is_leaf(step.op) || step.op == Op::Add || step.op == Op::Sub || step.op == Op::Mul;
    if (!affine) return std::nullopt;
  }
  return symbol;
}

std::string Size::text(std::span<const std::string> names) const {
  std::vector<std::string> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::Constant) {
      stack.push_back(fmt::to_string(step.value));
    } else if (step.op == Op::Symbol) {
      stack.push_back(names[static_cast<std::size_t>(step.value)]);
    } else if (step.op == Op::LoopVariable) {
      stack.push_back(fmt::format("loop {}", step.value));
    } else {
      const std::string b = stack.back();
      stack.pop_back();
      stack.back() = spelled(step.op, stack.back(), b);
    }
  }
  const std::string& whole = stack.back();
  return whole.front() == '(' && whole.find('(', 1) == std::string::npos
             ? whole.substr(1, whole.size() - 2)
             : whole;
}

}  // namespace texloom::hal
