// How often a statement of a lowered program runs: the iterations of the loops around it, thread
// axes among them, for which the conditions around it hold.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ir/expr.h"
#include "ir/visit.h"

namespace texloom::lower {

struct Count {
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

  int64_t value = 0;
  // Otherwise there are at most as many: a condition or an extent reads memory, or there are too
  // many cases to try.
  bool exact = true;

  bool bounded() const { return value < kUnbounded; }
  bool operator==(const Count&) const = default;
};

// The iterations that reach one place. A value; copies are for the places further in.
//
// Conditions are tried for every value of the variables that they speak of; those that share no
// variable are counted apart, so that bounds of rows and columns multiply.
class Iterations {
 public:
  // How many cases all copies together may try.
  static constexpr int64_t kMaxTried = int64_t{1} << 24;

  // Nothing around: it runs once. `tried`, of the caller, counts cases.
  explicit Iterations(int64_t& tried) : tried_(&tried) {}

  Iterations inside_loop(const ir::Expr& var, const ir::Expr& extent) const;
  Iterations under(const ir::Expr& condition, bool holds = true) const;
  Iterations with(const ir::Expr& var, const ir::Expr& value) const;

  const Count& count() const { return count_; }

 private:
  // The iterations that it has at most: `conditions_` say which it has.
  struct Loop {
    ir::Expr var;
    int64_t extent = 1;
  };

  int64_t most(const ir::Expr& extent) const;
  void require(const ir::Expr& condition);
  void recount();

  std::vector<Loop> loops_;
  ir::Exprs conditions_;
  ir::Substitution values_;  // of Lets, in terms of loops
  Count count_{1, true};
  int64_t* tried_;
};

}  // namespace texloom::lower
