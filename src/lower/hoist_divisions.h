#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Divides outside of loops what they do not change.
//
// Does: a quotient or remainder of indices by a constant, in a serial loop that defines none of its
// variables, is bound to a variable in front of the outermost such loop. Folded layouts leave
// these: rows and columns of the fold that a tile lies in.
//
// Stands behind partition_loops, which decides most divisions of loop variables, and before texels
// are shared, so that coordinates are compared as they stay.
//
// Before and after: stage Kernels.
//
//   for k < 8 {                                        let quotient: int32 = floordiv(tx, 3)
//     Y[floordiv(tx, 3) * 8 + k] = X[k]         ->     for k < 8 {
//   }                                                    Y[quotient * 8 + k] = X[k]
//                                                      }
void hoist_divisions(Lowering& lowering);

}  // namespace texloom::lower
