// Rewrites divisions of integers and operations on bools to operations that machines have.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: rewrites divisions and bools to operations that every language and instruction set has.
//   * floordiv and floormod become / and % if both operands are known not to be negative, and a
//     shift and a mask if the divisor is a power of two. Other divisions stay.
//   * Languages and machines leave the remainder of the least number by -1 undefined. Where a
//     divisor may be -1, a Select replaces -1 by 1: the remainder by either is 0.
//   * Arithmetic on bools is one-bit arithmetic.
//   * A cast to bool becomes a comparison with 0.
// Requires: stage legalized; operations of any integer type.
// Ensures: stage legalized; no arithmetic of bools, and no cast to bool. Only a remainder by 0 is
//   undefined.
// Order: after widen_storage, whose casts and comparisons are part of the arithmetic; where a
//   language promotes, after make_promotions_explicit, whose wider types need fewer replacements.
// Example:
//   floordiv(i + 3, 4)     ->    (i + 3) / 4               i a loop variable
//   floormod(i - 1, 4)     ->    (i - 1) & 3
ir::Stmt make_divisions_explicit(const ir::Stmt& body, const ir::arith::Ranges& ranges);

}  // namespace texloom::codegen
