// Comparisons of numbers by the operators of the IR.
#pragma once

#include "ir/expr.h"
#include "support/check.h"

namespace texloom::ir {

// Compares integers of one type, or floats. Comparisons with NaN are false, except Ne.
template <class Number>
bool compare(BinaryOp op, Number a, Number b) {
  switch (op) {
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    default:
      TL_UNREACHABLE("not a comparison");
  }
}

}  // namespace texloom::ir
