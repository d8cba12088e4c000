// Integers that are only known at the call, or in the loops around it: extents, grids, and
// expressions of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"

namespace texloom::hal {

using LoopValues = std::map<std::uint32_t, std::int64_t>;  // by slot, of the loops around

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

  // The number, if it depends on nothing.
  std::optional<std::int64_t> constant() const;

  // All symbols in it have smaller numbers.
  std::size_t symbol_count() const;
  // The slots of the loop variables in it, in order of appearance.
  std::vector<std::uint32_t> loop_slots() const;

  // With the values of the symbols, and of the loop variables by slot. InvalidArgument: a division
  // by zero, a number beyond 64 bits, or an unknown symbol or loop variable.
  Result<std::int64_t> at(std::span<const std::int64_t> symbols,
                          const LoopValues& variables = {}) const;
  // The same with numbers for the symbols: a constant, unless loop variables are in it. Fails like
  // at().
  Result<Size> with_symbols(std::span<const std::int64_t> symbols) const;

  // The number of the only symbol that is not `known`, if this consists of sums, differences and
  // products in which it occurs once.
  std::optional<std::uint32_t> solvable_symbol(const std::vector<bool>& known) const;

  // "n + 2"; symbols by these names.
  std::string text(std::span<const std::string> names) const;

  bool operator==(const Size&) const = default;

 private:
  // Operands before operators, which take the two results before them.
  struct Step {
    Op op = Op::Constant;
    std::int64_t value = 0;  // of a constant; the number of a symbol; the slot of a loop variable
    bool operator==(const Step&) const = default;
  };
  Size() = default;

  std::vector<Step> steps_;
};

}  // namespace texloom::hal
