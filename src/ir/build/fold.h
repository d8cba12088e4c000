// Constant folding: what the functions that build expressions return instead of a node.
#pragma once

#include "ir/expr.h"

namespace texloom::ir {

// The constant as the type holds it: reduced modulo 2^bits.
int64_t wrapped(int64_t value, Type type);

// The operation on constants, or the operand that it leaves unchanged; null if it has to be
// computed. Operations whose result is undefined (division by zero, a shift out of range) are not
// folded. No floats are folded, so that rounding and NaNs stay those of the device.
Expr fold_binary(BinaryOp op, const Expr& a, const Expr& b);
// The converted constant, or null.
Expr fold_cast(Type type, const Expr& value);
// The lane of a vector whose lanes are known, or null.
Expr fold_lane(const Expr& vector, const Expr& index);

}  // namespace texloom::ir
