// Collects comparisons of indices in guards and selects, and finds where they certainly hold.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/stmt.h"

namespace texloom::lower {

// A condition that holds if the sum is in the interval. The sum is index arithmetic; the interval
// is unbounded at one end.
struct IndexCondition {
  ir::arith::LinearSum sum;
  ir::arith::Interval holds;
};

// The comparisons in conditions of Ifs and Selects, whether the whole condition or one conjunct. A
// comparison of vectors contributes the comparisons of its first and last lanes.
class IndexConditions {
 public:
  explicit IndexConditions(const ir::Stmt& s) { stmt(s); }

  std::span<const IndexCondition> all() const { return tests_; }
  // The conditions inside a loop of the statement.
  std::span<const IndexCondition> inside(const ir::For& loop) const;

 private:
  struct Part {
    size_t first = 0, count = 0;
  };

  void stmt(const ir::Stmt& s);
  void expr(const ir::Expr& e);
  void condition(const ir::Expr& e);
  void comparison(ir::BinaryOp op, const ir::Expr& a, const ir::Expr& b, int lane);

  std::vector<IndexCondition> tests_;                      // in the order of the statements
  std::unordered_map<const ir::StmtNode*, Part> of_loop_;  // the part of tests_ inside each loop
};

// The values of the variable for which the test holds for all values that the other variables have
// in `ranges`. Unbounded if the test does not depend linearly on the variable.
ir::arith::Interval where_certain(const IndexCondition& test, const ir::Expr& var,
                                  const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
