// Numbers that are known at the call alone: extents, and what follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"

namespace texloom::runtime {

// Integer arithmetic of constants and of symbols, which are known by their numbers. Plain data.
class Size {
 public:
  enum class Op : std::uint8_t {
    Constant,
    Symbol,
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
  static Size of(Op op, const Size& a, const Size& b);

  // The number, where it depends on nothing.
  std::optional<std::int64_t> constant() const;

  // Symbols of smaller numbers alone are in it.
  std::size_t symbol_count() const;

  // With the values of the symbols. InvalidArgument: a division by zero, a number beyond 64 bits,
  // or a symbol that there is not.
  Result<std::int64_t> at(std::span<const std::int64_t> symbols) const;

  // The number of the only symbol that `known` leaves out, where this is sums, differences and
  // products of it, in which it stands once.
  std::optional<std::uint32_t> solvable_symbol(const std::vector<bool>& known) const;

  // "n + 2"; symbols by these names.
  std::string text(std::span<const std::string> names) const;

  bool operator==(const Size&) const = default;

 private:
  // Operands before operators, which take the two results before them.
  struct Step {
    Op op = Op::Constant;
    std::int64_t value = 0;  // of a constant; the number of a symbol
    bool operator==(const Step&) const = default;
  };
  Size() = default;

  std::vector<Step> steps_;
};

}  // namespace texloom::runtime
