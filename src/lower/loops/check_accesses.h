#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: tests every index that is not proven to lie inside its buffer, where the target asks for
//   it (-checked=1, build(..., checked=True)).
//   The test of an index stands in front of the statement that makes the access, under the
//   conditions that lead to it. An index outside its axis is written to the parameter
//   "bad_indices", at the number that the access and the axis have in Lowering::checks; a zero
//   there, which is inside every axis, says that nothing was wrong. Of several bad indices at one
//   place any may be reported. The access itself is not made: a load gives zero, a store does
//   nothing. Each lane of a vector is tested; a vector is stored if all its lanes are inside. A
//   test of a value that is defined for a statement stands in front of all definitions that it does
//   not use. What a foreign call does with a pointer is not tested.
// Requires: stage loops, without vectorized loops.
// Ensures: stage loops, with one more parameter than the schedule has arguments if there is
//   anything to test.
// Order: after vectorize_loops and unroll_loops, which tests in loops would hinder; before
//   flatten_storage, because an index along an axis is what the user wrote, and one that leaves its
//   axis may still lie in the buffer.
// Example:
//   Y[i] = X[Z[i]]    ->    if !(Z[i] >= 0 && Z[i] < 8) { bad_indices[2] = int64(Z[i]) }
//                           Y[i] = select(Z[i] >= 0 && Z[i] < 8, X[Z[i]], 0.0)
void check_accesses(Lowering& lowering);

}  // namespace texloom::lower
