#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Takes the bounds tests out of interior tiles.
//
// Does: looks at the tests of guards and selects, as splits that do not divide and the padding of
// convolutions leave them. A serial loop in most of whose iterations a test holds, whatever the
// other variables are, is cut into those iterations, without the test, and those before and behind
// them. It is cut, too, where a quotient of its variable changes, if that is at few places: there
// it goes over the edge of a texture's fold. Where a test inside a loop, or several beside one
// another, hold in most blocks of the grid, that part of the kernel is there twice: without the
// tests under a guard on blockIdx that is true in those blocks, and as it was under the opposite
// one. Threads of one block never part at such a guard, so that barriers may stand under it; what
// depends on threadIdx alone stays a test, since threads that run together would go through both
// copies. No barrier is put under a guard on targets without conditional barriers. At most 256
// stores are added to a kernel, and none where the copies' own arrays would go beyond the target's
// memory for one thread.
//
// Stands behind insert_barriers, so that both copies have the barriers of the original, and before
// texels are shared, which sees what is read in any case.
//
// Before and after: stage Kernels.
//
//   for k < 33 {                          for k < 32 { y[0] = y[0] + x[k] }
//     if k < 32 { y[0] = y[0] + x[k] }    z[32] = y[0]
//     z[k] = y[0]                   ->    (and z[k] = y[0] in the loop)
//   }
void partition_loops(Lowering& lowering);

}  // namespace texloom::lower
