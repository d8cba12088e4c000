// Simplifies integer expressions and conditions, and proves conditions by simplification.
//
// An integer expression of index type becomes a sum of terms coefficient * atom + constant
// (linear.h), where an atom is a variable, a division, a remainder or whatever else is not linear.
// The rows of a table (rules.h) simplify everything that is not a sum; rules.h also says why this
// terminates. Operands are simplified first, each shared part once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ir/arith/linear.h"
#include "ir/arith/ranges.h"
#include "ir/arith/rules.h"
#include "ir/expr.h"

namespace texloom::ir::arith {

// Scalar signed integers of 32 or 64 bits: the types of sums.
inline bool is_index_type(Type type) {
  return type.is_scalar() && type.is_int() && type.bits >= 32;
}

Expr simplify(const Expr& e, const Ranges& ranges = {}, const RuleTable& rules = default_rules());

class Simplifier;  // simplify.cc

// Simplifies several expressions under the same facts. Simplifies each part that they share once.
class Simplification {
 public:
  // The facts must outlive the object.
  explicit Simplification(const Ranges& ranges);
  ~Simplification();

  Expr simplify(const Expr& e);
  // The difference a - b if it is constant.
  std::optional<int64_t> constant_difference(const Expr& a, const Expr& b);

 private:
  std::unique_ptr<Simplifier> simplifier_;
};

// The simplified expression as a sum. `e` is of index type.
LinearSum linear_sum(const Expr& e, const Ranges& ranges);

// True only if the condition holds for all values in range.
bool prove(const Expr& condition, const Ranges& ranges);
// True only if `a` and `b` are equal for all values in range. Both must be index arithmetic.
bool prove_equal(const Expr& a, const Expr& b, const Ranges& ranges);

// The difference a - b if it is constant.
std::optional<int64_t> constant_difference(const Expr& a, const Expr& b, const Ranges& ranges);

}  // namespace texloom::ir::arith
