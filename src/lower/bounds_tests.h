// The comparisons that guards and selects make of indices, and where they hold for certain.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/stmt.h"

namespace texloom::lower {

// Holds where the sum, which is index arithmetic, has a value of the interval; open at one end.
struct BoundsTest {
  ir::arith::LinearSum sum;
  ir::arith::Interval holds;
};

// Those in conditions of Ifs and Selects, alone or one of several that all have to hold. A vector's
// test is that of its first lane and that of its last.
class BoundsTests {
 public:
  explicit BoundsTests(const ir::Stmt& s) { stmt(s); }

  std::span<const BoundsTest> all() const { return tests_; }
  // Of a loop in the statement.
  std::span<const BoundsTest> inside(const ir::For& loop) const;

 private:
  struct Part {
    size_t first = 0, count = 0;
  };

  void stmt(const ir::Stmt& s);
  void expr(const ir::Expr& e);
  void condition(const ir::Expr& e);
  void comparison(ir::BinaryOp op, const ir::Expr& a, const ir::Expr& b, int lane);

  std::vector<BoundsTest> tests_;                          // in the order of the statements
  std::unordered_map<const ir::StmtNode*, Part> of_loop_;  // of tests_
};

// The values of the variable for which the test holds whatever values other variables have; they
// have those of `ranges`. Everything when the test does not depend on the variable, or not
// linearly.
ir::arith::Interval where_certain(const BoundsTest& test, const ir::Expr& var,
                                  const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
