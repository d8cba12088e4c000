#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Tests every index that is not proven to lie inside its buffer, where the target asks for it
// (-checked=1, build(..., checked=True)).
//
// Does: in front of the statement that makes the access, and under the conditions that lead to it,
// an index outside its axis is written to the parameter "bad_indices", at the number of the access
// and axis in Lowering::checks; there zero, which is inside every axis, says that nothing was
// wrong. Of several bad ones at that place any may be told. A load at a bad index gives zero, a
// store is not carried out: neither is an access. Of a vector each lane is tested, and a store of
// it is carried out if all are inside. Values that are defined for a statement are one with it: a
// test stands in front of all that it does not use. What a foreign call does with a pointer is not
// tested.
//
// Stands behind vectorize_loops and unroll_loops, which tests in loops would be in the way of, and
// before flatten_storage: an index along an axis is what the user wrote, and one that leaves its
// axis may still lie in the buffer.
//
// Before: stage Loops. After: the same, with one more parameter than the schedule has arguments,
// if there is anything to test.
//
//   Y[i] = X[Z[i]]    ->    if !(Z[i] >= 0 && Z[i] < 8) { bad_indices[2] = int64(Z[i]) }
//                           Y[i] = select(Z[i] >= 0 && Z[i] < 8, X[Z[i]], 0.0)
void check_accesses(Lowering& lowering);

}  // namespace texloom::lower
