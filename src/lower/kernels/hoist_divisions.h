#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: moves divisions out of loops that do not change them.
//   Binds a quotient or remainder of indices by a constant to a variable, in front of the outermost
//   enclosing serial loop that defines none of its variables. Such divisions come from folded
//   layouts: they compute the row and column of the fold that contains a tile.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after partition_loops, which eliminates most divisions of loop variables; before
//   share_texels, which compares coordinates in their final form.
// Example:
//   for k < 8 {                                        let quotient: int32 = floordiv(tx, 3)
//     Y[floordiv(tx, 3) * 8 + k] = X[k]         ->     for k < 8 {
//   }                                                    Y[quotient * 8 + k] = X[k]
//                                                      }
void hoist_divisions(Lowering& lowering);

}  // namespace texloom::lower
