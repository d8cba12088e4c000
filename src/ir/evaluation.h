// Tells which operands an expression evaluates, and what may fail.
#pragma once

#include <unordered_map>

#include "ir/expr.h"

namespace texloom::ir {

// Whether evaluating the node always evaluates this operand, numbered as in for_each_child. The
// first operand of a Select or a logical operation decides whether the other operands are
// evaluated.
bool always_evaluates(const Expr& node, int operand);

// Whether the node is an integer division by anything but nonzero constants.
bool division_may_fail(const Binary& n);

// Whether computing the node from its operands may fail: an integer division by anything but
// nonzero constants, a load that may be out of bounds, a lane whose computed index may be out of
// range, or a foreign call. Texture loads do not count: reading a texel is always defined.
bool may_fail(const Expr& node);

// Tells whether expressions contain a node that may fail. Caches its answers: keep one object as
// long as the expressions live.
class Failures {
 public:
  bool possible_in(const Expr& e);
  // Whether `e` may fail although `before` was evaluated and did not fail: what that evaluates in
  // any case does not fail again.
  bool possible_after(const Expr& before, const Expr& e);

 private:
  std::unordered_map<Expr, bool, RefHash, RefSame> known_;
};

}  // namespace texloom::ir
