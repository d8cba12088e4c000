// Gives integer arithmetic in C-like languages the results of the IR.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: rewrites integer operations so that C's rules give the results of the IR.
//   * Sums, differences, products and left shifts wrap in the IR. C leaves the overflow of signed
//     integers undefined, so they are computed in unsigned integers. They stay signed if the
//     intervals of their operands show that they cannot overflow, and in index arithmetic (without
//     values from memory), which lowering has proven to fit.
//   * C promotes scalars of 8 and 16 bits to int, so they are computed in 32 bits and cast back.
//     C does not promote vectors, but divisions of vectors are computed in 32 bits, too.
// Requires: stage legalized; operations of any integer type.
// Ensures: stage legalized; C's promotions change nothing, no signed integer overflows, and
//   divisions are of 32 and 64 bits.
// Order: after widen_storage, whose casts and comparisons are part of the arithmetic; before
//   make_divisions_explicit, which proves more about divisions of wider types.
// Example:
//   a + b  (int8)          ->    int8(uint32(a) + uint32(b))
//   floordiv(a, b) (int8)  ->    int8(floordiv(int32(a), int32(b)))
ir::Stmt make_promotions_explicit(const ir::Stmt& body, const ir::arith::Ranges& ranges);

}  // namespace texloom::codegen
