#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: takes bounds tests out of interior tiles.
//   Looks at the tests of guards and selects, as splits that do not divide and the padding of
//   convolutions leave them. If a test holds in most iterations of a serial loop, whatever the
//   other variables are, the loop is cut into those iterations, without the test, and those before
//   and after them. A loop is also cut where a quotient of its variable changes, if that is at few
//   places: there it crosses the edge of a texture's fold. If a test inside a loop, or several next
//   to one another, hold in most blocks of the grid, that part of the kernel is duplicated: without
//   the tests under a guard on blockIdx that is true in those blocks, and unchanged under the
//   opposite guard. All threads of a block agree on such a guard, so that barriers may stand under
//   it. A test of threadIdx alone stays, since threads that run together would execute both copies.
//   No barrier is put under a guard on targets without conditional barriers. At most 256 stores are
//   added to a kernel, and none where the arrays of the copies would exceed the target's memory for
//   one thread.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after insert_barriers, so that both copies have the barriers of the original; before
//   share_texels, which sees what is read in any case.
// Example:
//   for k < 33 {                          for k < 32 { y[0] = y[0] + x[k] }
//     if k < 32 { y[0] = y[0] + x[k] }    z[32] = y[0]
//     z[k] = y[0]                   ->    (and z[k] = y[0] in the loop)
//   }
void partition_loops(Lowering& lowering);

}  // namespace texloom::lower
