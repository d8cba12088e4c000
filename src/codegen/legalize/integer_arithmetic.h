// Integer arithmetic that means the same in OpenCL C.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: writes integer operations so that C's rules give the results of the IR.
//   * Sums, differences, products and left shifts wrap in the IR. C leaves the overflow of signed
//     integers undefined, so they are computed in unsigned integers, unless they cannot overflow
//     by the intervals of their operands, or are index arithmetic (no value of memory in it),
//     which lowering has proven to fit.
//   * C promotes scalars of 8 and 16 bits to int: those are computed in 32 bits and cast back.
//     Vectors are not promoted.
//   * Arithmetic on bools is that of one bit.
//   * floordiv and floormod become / and % where both operands are known not to be negative, a
//     shift and a mask where the divisor is a power of two, and are left to a function elsewhere.
//   * A cast to bool is a comparison with 0.
// Requires: stage legalized; operations of any integer type.
// Ensures: stage legalized; operations on which C and the IR agree, and FloorDiv and FloorMod of
// int32
//   and int64 only.
// Order: after widen_storage, whose casts and comparisons are part of the arithmetic.
// Example:
//   a + b  (int8)          ->    int8(uint32(a) + uint32(b))
//   floordiv(i + 3, 4)     ->    (i + 3) / 4               i a loop variable
//   floormod(i - 1, 4)     ->    (i - 1) & 3
ir::Stmt make_integers_explicit(const ir::Stmt& body, const ir::arith::Ranges& ranges);

// The ranges of a kernel's variables: thread axes, loop variables and Lets of integers.
ir::arith::Ranges ranges_of(const ir::Kernel& kernel);

}  // namespace texloom::codegen
