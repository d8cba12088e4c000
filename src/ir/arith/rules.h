// The rules of simplification, as a table.
//
// A row says: where the pattern fits and the guard holds, the result is the same value. Rows are
// written in the terms of term.h, and mean:
//
//   x, y, z     an integer expression      p, q   a bool        u, v, w   anything
//   c0, c1, c2  an integer constant; the second operand of an operation is matched first
//   x * c0 + y  of a sum of several terms: x is the part that c0 divides, divided by it, and not
//               zero; y is what is left. A c0 that is not known yet takes what each coefficient,
//               or all, have in common with the constant next bound, the largest first.
//   x * c0 + c1 of a sum: c0 is what all coefficients have in common, negative when all are
//   f(x) * c0 + y, f(x) + c1
//               one term of a sum, an operation f, and what is left of the sum
//   x < c0      of index arithmetic, both sides are brought to the left of `x < 0` first
//   low(x), high(x), modulus(x), residue(x)
//               what is known of the values of x (interval.h, modular.h). A guard or result that
//               asks for an end that is not known makes the row not apply; so does arithmetic of
//               constants that leaves the type.
//
// min, max, == and != are matched both ways round, sums in any order; && and || are not, since the
// first operand may guard the second. Rows are tried in their order; the first that fits is
// applied, and its result simplified.
//
// Each row has a domain. Rows of `Any` hold for all values of a type, sums that wrap included.
// Rows of `Index` are wrong where a sum wraps: they are for index arithmetic (linear.h), its
// vectors, and integers of at most 16 bits, of memory too, whose intervals know of wrapping; never
// for larger values of memory, nor for uint32 and uint64. As index arithmetic does not overflow
// and is to stay so (ir.h), such a row does not apply where a sum of its result, or a product in
// it, may leave the type: where its bounds do, or are not known while those of the pattern are.
//
// Simplification ends: a result has fewer operations other than sums than the pattern, or as many
// of them, of smaller operands: fewer terms, smaller divisors, or (of Not, Select) constants
// further out.
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

// All rows, those of one operation side by side.
std::span<const Rule> all_rules();

// Some rows, by the operation at the root of their pattern.
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

// The row as it is written.
std::string to_string(const Rule& rule);

}  // namespace texloom::ir::arith
