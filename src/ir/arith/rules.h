// The rules of simplification, as a table.
//
// A row says: if the pattern matches and the guard holds, the result has the same value. Rows
// consist of the terms of term.h, which mean:
//
//   x, y, z     an integer expression      p, q   a bool        u, v, w   anything
//   c0, c1, c2  an integer constant; the second operand of an operation is matched first
//   x * c0 + y  a sum of several terms: x * c0 is the part divisible by c0, and x is not zero; y is
//               the rest. If c0 is unbound, the candidates for it are the coefficients and their
//               greatest common divisor, in descending order; if another constant is bound, the
//               greatest common divisors of that constant with these candidates.
//   x * c0 + c1 a sum: c0 is the common factor of all coefficients, negative if they all are
//   f(x) * c0 + y, f(x) + c1
//               one term of a sum, an operation f, and the rest of the sum
//   x < c0      in index arithmetic, both sides are brought to the left of `x < 0` first
//   low(x), high(x), modulus(x), residue(x)
//               what is known of the values of x (interval.h, modular.h). A row does not apply if
//               its guard or result needs an end that is not known, or if arithmetic of constants
//               overflows the type.
//
// The operands of min, max, == and != are matched in both orders, the terms of a sum in any order.
// The operands of && and || are matched only as written, since the first may guard the second. Rows
// are tried in order; the first that matches is applied, and its result is simplified.
//
// Each row has a domain. Rows of `Any` hold for all values of a type, including sums that wrap.
// Rows of `Index` are wrong if a sum wraps. They apply to index arithmetic (linear.h), its vectors,
// and integers of at most 16 bits, also from memory, whose intervals account for wrapping; never to
// wider values from memory, nor to uint32 and uint64. Index arithmetic does not overflow and must
// stay so (ir/program.h): such a row does not apply if a sum of its result, or a product in it, may
// overflow, because its bounds exceed the type or are unknown while those of the pattern are known.
//
// Simplification terminates: compared with the pattern, a result has fewer operations other than
// sums, or as many of them with smaller operands: fewer terms, smaller divisors, or (in Not and
// Select) constants further out.
//
// tests/ir/arith/rules_test.cc tries each row on random values, and has an example for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/arith/term.h"

namespace texloom::ir::arith {

enum class Domain : uint8_t { Any, Index };

struct Rule {
  Domain domain;
  Term pattern;
  Term guard;
  Term result;
};

// All rows, grouped by operation.
std::span<const Rule> all_rules();

// Some rows, indexed by the operation at the root of their pattern.
class RuleTable {
 public:
  explicit RuleTable(std::span<const Rule> rules);

  std::span<const Rule* const> of(BinaryOp op) const { return binary_[static_cast<size_t>(op)]; }
  std::span<const Rule* const> of_not() const { return not_; }
  std::span<const Rule* const> of_select() const { return select_; }

 private:
  std::array<std::vector<const Rule*>, static_cast<size_t>(BinaryOp::BitXor) + 1> binary_;
  std::vector<const Rule*> not_, select_;
};

const RuleTable& default_rules();

// The row as written in the table.
std::string to_string(const Rule& rule);

}  // namespace texloom::ir::arith
