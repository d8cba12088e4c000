// Counts how often a statement of a lowered program runs: the iterations of the enclosing loops,
// including thread axes, for which the enclosing conditions hold.
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
  // If false, the value is an upper bound: a condition or an extent reads memory, or there are too
  // many cases to try.
  bool exact = true;

  bool bounded() const { return value < kUnbounded; }
  bool operator==(const Count&) const = default;
};

// The iterations that reach one statement. A value type: nested statements use modified copies.
//
// Conditions are tried for every value of their variables. Conditions that share no variable are
// counted separately, and the counts multiply: as for rows and columns.
class Iterations {
 public:
  // The limit on the cases that all copies together may try.
  static constexpr int64_t kMaxTried = int64_t{1} << 24;

  // A statement outside all loops, which runs once. `tried` counts cases; it must outlive all
  // copies.
  explicit Iterations(int64_t& tried) : tried_(&tried) {}

  Iterations inside_loop(const ir::Expr& var, const ir::Expr& extent) const;
  Iterations under(const ir::Expr& condition, bool holds = true) const;
  Iterations with(const ir::Expr& var, const ir::Expr& value) const;

  const Count& count() const { return count_; }

 private:
  // A loop with at most `extent` iterations; `conditions_` decide which of them run.
  struct Loop {
    ir::Expr var;
    int64_t extent = 1;
  };

  int64_t most(const ir::Expr& extent) const;
  void require(const ir::Expr& condition);
  void recount();

  std::vector<Loop> loops_;
  ir::Exprs conditions_;
  ir::Substitution values_;  // the values of Lets, over loop variables
  Count count_{1, true};
  int64_t* tried_;
};

}  // namespace texloom::lower
