// What evaluating an expression implies: which operands are evaluated, and what may fail.
#pragma once

#include <unordered_map>

#include "ir/expr.h"

namespace texloom::ir {

// Whether evaluating the node always evaluates this operand, counted as for_each_child does. The
// first operand of a Select and of a logical operation decides about the others.
bool always_evaluates(const Expr& node, int operand);

// Whether it is an integer division, and not by constants that are not zero.
bool division_may_fail(const Binary& n);

// Whether computing the node from its operands may fail: such a division, a load from a buffer,
// which may be outside of it, a lane of a computed index, which may be none of the vector's, or a
// foreign call.
// Texels do not count: reading one is always defined.
bool may_fail(const Expr& node);

// Whether the expression holds a node that may fail. Remembers its answers: keep one for as long
// as the expressions live.
class Failures {
 public:
  bool possible_in(const Expr& e);

 private:
  std::unordered_map<Expr, bool, RefHash, RefSame> known_;
};

}  // namespace texloom::ir
