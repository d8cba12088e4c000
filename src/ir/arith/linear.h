// Sums of coefficient * atom + constant: the normal form that simplify.cc works on. Atoms are
// told apart by structural equality.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/arith/interval.h"
#include "ir/expr.h"

namespace texloom::ir::arith {

struct LinearTerm {
  Expr atom;
  int64_t coefficient = 1;
};

struct LinearSum {
  std::vector<LinearTerm> terms;  // no coefficient is zero, no two atoms are equal
  int64_t constant = 0;

  static LinearSum constant_sum(int64_t value) { return {{}, value}; }
  static LinearSum atom(Expr e);
  static LinearSum term(LinearTerm t) { return {{std::move(t)}, 0}; }

  bool is_constant() const { return terms.empty(); }
  // The atom of a sum that is nothing but that atom.
  const Expr* single_atom() const;
  // Whether an atom holds a value of memory or of a function of one.
  bool reads_memory() const;

  // this + sign * other
  LinearSum plus(const LinearSum& other, int64_t sign) const;
  // Nothing when a coefficient would overflow.
  std::optional<LinearSum> times(int64_t factor) const;
  // Into a part whose coefficients are multiples of c, its constant rounded down, and the rest.
  std::pair<LinearSum, LinearSum> split_multiples(int64_t c) const;
  // Every coefficient is a multiple of c.
  LinearSum divided(int64_t c) const;

  Interval bounds(const Ranges& ranges) const;
  Expr to_expr(Type type) const;
};

}  // namespace texloom::ir::arith
