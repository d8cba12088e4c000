// Integer expressions for extents and grids whose values are known only at the call, or in the
// loops around it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"

namespace texloom::hal {

using LoopValues = std::map<std::uint32_t, std::int64_t>;  // key: the slot of an enclosing loop

// Integer arithmetic on constants, symbols (identified by numbers) and loop variables (identified
// by slots). Plain data.
class Size {
 public:
  enum class Op : std::uint8_t {
    Constant,
    Symbol,
    LoopVariable,
    Add,
    Sub,
    Mul,
    FloorDiv,
    FloorMod,
    Min,
    Max,
  };

  // NOLINTNEXTLINE(google-explicit-constructor): most sizes are numbers
  Size(std::int64_t constant) : steps_{{Op::Constant, constant}} {}
  static Size symbol(std::uint32_t number);
  static Size loop_variable(std::uint32_t slot);
  static Size of(Op op, const Size& a, const Size& b);

  // A step of an expression in postfix order: an operator combines the last two results.
  struct Step {
    Op op = Op::Constant;
    std::int64_t value = 0;  // of a constant; the number of a symbol; the slot of a loop variable
    bool operator==(const Step&) const = default;
  };
  // Makes the expression that a file stores as steps. InvalidArgument if the steps are not one
  // expression, or name a symbol or a loop variable that is not a number of 32 bits.
  static Result<Size> from_steps(std::vector<Step> steps);
  const std::vector<Step>& steps() const { return steps_; }

  // The value, if it depends on no symbol and no loop variable.
  std::optional<std::int64_t> constant() const;

  // One more than the largest symbol number in the expression; 0 if there are no symbols.
  std::size_t symbol_count() const;
  // The slots of the expression's loop variables, in order of appearance.
  std::vector<std::uint32_t> loop_slots() const;

  // The value for these values of the symbols, by number, and of the loop variables, by slot.
  // InvalidArgument: a division by zero, a value beyond 64 bits, or an unknown symbol or loop
  // variable.
  Result<std::int64_t> at(std::span<const std::int64_t> symbols,
                          const LoopValues& variables = {}) const;
  // The expression with values substituted for the symbols: a constant unless it has loop
  // variables. Fails like at().
  Result<Size> with_symbols(std::span<const std::int64_t> symbols) const;
  // The expression with expressions substituted for the symbols, by number; operations on numbers
  // are computed. Fails like at().
  Result<Size> with_symbols(std::span<const Size> symbols) const;

  // The number of the only symbol that is not `known`, if the expression consists of sums,
  // differences and products in which that symbol occurs once.
  std::optional<std::uint32_t> solvable_symbol(const std::vector<bool>& known) const;

  // The expression as text, such as "n + 2"; `names` are the names of the symbols.
  std::string text(std::span<const std::string> names) const;

  bool operator==(const Size&) const = default;

 private:
  Size() = default;

  std::vector<Step> steps_;
};

}  // namespace texloom::hal
