#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: moves divisions out of loops that do not change them.
//   Binds a quotient or a remainder of indices by a constant to a variable, in front of the
//   outermost serial loop around it that defines none of its variables. Folded layouts leave such
//   divisions: the rows and columns of the fold that a tile lies in.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after partition_loops, which decides most divisions of loop variables; before
// share_texels,
//   so that it compares coordinates in their final form.
// Example:
//   for k < 8 {                                        let quotient: int32 = floordiv(tx, 3)
//     Y[floordiv(tx, 3) * 8 + k] = X[k]         ->     for k < 8 {
//   }                                                    Y[quotient * 8 + k] = X[k]
//                                                      }
void hoist_divisions(Lowering& lowering);

}  // namespace texloom::lower
