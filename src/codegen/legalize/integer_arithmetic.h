// Makes integer arithmetic mean the same in OpenCL C as in the IR.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: rewrites integer operations so that C's rules give the results of the IR.
//   * Sums, differences, products and left shifts wrap in the IR. C leaves the overflow of signed
//     integers undefined, so they are computed in unsigned integers, unless the intervals of their
//     operands show that they cannot overflow, or they are index arithmetic (without values from
//     memory), which lowering has proven to fit.
//   * C promotes scalars of 8 and 16 bits to int, so they are computed in 32 bits and cast back.
//     Vectors are not promoted.
//   * Arithmetic on bools is one-bit arithmetic.
//   * floordiv and floormod become / and % if both operands are known not to be negative, a shift
//     and a mask if the divisor is a power of two, and calls of a function otherwise.
//   * C leaves the remainder of the least number by -1 undefined, so a divisor that may be -1 is
//     replaced by 1 where it is: both remainders are 0.
//   * A cast to bool becomes a comparison with 0.
// Requires: stage legalized; operations of any integer type.
// Ensures: stage legalized; C and the IR agree on all operations; FloorDiv and FloorMod are only of
//   int32 and int64.
// Order: after widen_storage, whose casts and comparisons are part of the arithmetic.
// Example:
//   a + b  (int8)          ->    int8(uint32(a) + uint32(b))
//   floordiv(i + 3, 4)     ->    (i + 3) / 4               i a loop variable
//   floormod(i - 1, 4)     ->    (i - 1) & 3
ir::Stmt make_integers_explicit(const ir::Stmt& body, const ir::arith::Ranges& ranges);

// The ranges of a kernel's variables: thread axes, loop variables and Lets of integers.
ir::arith::Ranges ranges_of(const ir::Kernel& kernel);

}  // namespace texloom::codegen
