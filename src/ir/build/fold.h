// Constant folding, for the functions that build expressions.
#pragma once

#include "ir/expr.h"

namespace texloom::ir {

// The result of an operation on constants, or the operand that it leaves unchanged; null if the
// operation has to be computed at run time. Operations whose result is undefined (division by zero,
// a shift out of range) are not folded. Operations on floats are not folded either, so that the
// device determines rounding and NaNs.
Expr fold_binary(BinaryOp op, const Expr& a, const Expr& b);
// The converted constant, or null.
Expr fold_cast(Type type, const Expr& value);
// The lane of a vector whose lanes are known; else null.
Expr fold_lane(const Expr& vector, const Expr& index);

}  // namespace texloom::ir
