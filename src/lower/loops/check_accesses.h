#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: tests every index that is not proven to be inside its buffer, if the target asks for it
//   (-checked=1, build(..., checked=True)).
//   The test of an index precedes the statement that makes the access, under the same conditions as
//   the access. An index outside its axis is written to the parameter "bad_indices", at the
//   position of the access and the axis in Lowering::checks. Zero, which is inside every axis,
//   means that no index was bad. If one access has several bad indices on an axis, any of them may
//   be reported. The access itself is skipped: a load gives zero, a store does nothing. Each lane
//   of a vector is tested; a vector is stored only if all its lanes are inside. A test is placed in
//   front of those enclosing Lets whose variables it does not use. Accesses that a foreign call
//   makes through a pointer are not tested.
// Requires: stage loops, without vectorized loops.
// Ensures: stage loops, with one more parameter than the schedule has arguments if there is
//   anything to test. Then asynchronous copies are made at once, since tests are among them.
// Order: after vectorize_loops and unroll_loops, because tests in loops would hinder these passes;
//   before flatten_storage, because users wrote indices along axes, and an index outside its axis
//   may still be inside the buffer.
// Example:
//   Y[i] = X[Z[i]]    ->    if !(Z[i] >= 0 && Z[i] < 8) { bad_indices[2] = int64(Z[i]) }
//                           Y[i] = select(Z[i] >= 0 && Z[i] < 8, X[Z[i]], 0.0)
void check_accesses(Lowering& lowering);

}  // namespace texloom::lower
