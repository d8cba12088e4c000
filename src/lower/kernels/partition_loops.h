#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: removes bounds tests from interior tiles.
//   Considers the tests of guards and selects, which come from splits that do not divide and from
//   the padding of convolutions. If a test holds in most iterations of a serial loop, whatever the
//   other variables are, the loop is cut into these iterations, without the test, and the
//   iterations before and after. A loop is also cut where a quotient of its variable changes, if
//   the quotient changes at few iterations: these are the edges of a texture's folds. If tests
//   inside a loop, or in several adjacent loops, hold in most blocks of the grid, these loops are
//   duplicated: without the tests under a guard on blockIdx that is true in those blocks, and
//   unchanged under the opposite guard. All threads of a block agree on such a guard, so barriers
//   are allowed under it, except on targets without conditional barriers. On such targets, a kernel
//   with barriers gets no copies of loops, either. A test of only threadIdx stays, since threads
//   that run together would execute both copies. At most 256 stores are added to a kernel, and none
//   if the arrays of the copies would exceed the target's memory for one thread.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after insert_barriers, so that both copies have the barriers of the original; before
//   share_texels, which then sees more unconditional reads.
// Example:
//   for k < 33 {                          for k < 32 { y[0] = y[0] + x[k] }
//     if k < 32 { y[0] = y[0] + x[k] }    z[32] = y[0]
//     z[k] = y[0]                   ->    (and z[k] = y[0] in the loop)
//   }
void partition_loops(Lowering& lowering);

}  // namespace texloom::lower
