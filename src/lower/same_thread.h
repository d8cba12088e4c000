// Which variables two accesses agree on where they meet in one element.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::lower {

// Of two lists of indices, one for each axis, at two points of the loops. Where all of them are
// equal, each pair gives a sum, over the differences of the variables at the two points, that is 0:
// bx * 64 + tx says that 64 * (bx - bx') + (tx - tx') = 0, of which the first part is a multiple of
// 64 and the second less than that; so both are 0. Quotient and remainder of a fused axis together
// are the axis. What is equal by these rules is known to be; of all else nothing is said.
// `variables` are those that may differ between the points.
class EqualWhereMet {
 public:
  using Variables = std::unordered_set<const ir::ExprNode*>;
  EqualWhereMet(const ir::Exprs& a, const ir::Exprs& b, const Variables& variables,
                const ir::arith::Ranges& ranges);

  // Whether a variable, or another part of the indices, has one value at both points.
  bool holds(const ir::Expr& part) const;
  // Whether the two never meet: the indices along some axis differ whatever the variables are.
  bool never() const;

 private:
  struct Difference {
    ir::Expr part;
    int64_t factor = 1;
  };
  // The differences of parts, times their factors, add up to a value in `rest`.
  struct Equation {
    std::vector<Difference> differences;  // the greatest factors first
    ir::arith::Interval rest;
  };

  bool is_fixed(const ir::Expr& part) const;
  void add_equation(const ir::Expr& a, const ir::Expr& b);
  // Whether something new is known.
  bool solve(const Equation& equation);
  bool join_quotients();

  const Variables& variables_;
  const ir::arith::Ranges& ranges_;
  std::vector<Equation> equations_;
  ir::Exprs known_;
};

}  // namespace texloom::lower
