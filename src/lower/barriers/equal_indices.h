// Finds the variables that have equal values whenever two accesses touch the same element.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::lower {

// Compares two lists of indices, one index per axis, at two points of the loops. If all indices are
// equal, each pair gives an equation over the differences of the variables at the two points: bx *
// 64 + tx gives 64 * (bx - bx') + (tx - tx') = 0. The first part is a multiple of 64 and the second
// is less than 64, so both are 0. The quotient and the remainder of a fused axis together determine
// the axis. Parts that these rules do not prove equal may still be equal. `variables` are the
// variables that may differ between the points.
class EqualIndices {
 public:
  using Variables = std::unordered_set<const ir::ExprNode*>;
  EqualIndices(const ir::Exprs& a, const ir::Exprs& b, const Variables& variables,
               const ir::arith::Ranges& ranges);

  // Whether a variable, or another part of the indices, has the same value at both points.
  bool holds(const ir::Expr& part) const;
  // Whether the two accesses never touch the same element: the indices along some axis differ for
  // all values of the variables.
  bool never() const;

 private:
  struct Difference {
    ir::Expr part;
    int64_t factor = 1;
  };
  // The differences of parts, times their factors, add up to a value in `rest`.
  struct Equation {
    std::vector<Difference> differences;  // in descending order of the factors
    ir::arith::Interval rest;
  };

  bool is_fixed(const ir::Expr& part) const;
  void add_equation(const ir::Expr& a, const ir::Expr& b);
  bool has_no_solution(const Equation& equation) const;
  // Adds the equalities that follow from an equation; returns whether any is new.
  bool solve(const Equation& equation);
  bool join_quotients();

  const Variables& variables_;
  const ir::arith::Ranges& ranges_;
  std::vector<Equation> equations_;
  ir::Exprs known_;
};

// Whether two lists of indices never select the same element. The variables take any values in
// their ranges, which may differ between the two lists.
bool never_equal(const ir::Exprs& a, const ir::Exprs& b, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
