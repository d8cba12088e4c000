#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: turns N-d accesses into linear offsets and texels, by the layout of each buffer.
//   An access to a linear buffer gets one offset; a vector of consecutive offsets stays a ramp. A
//   read of a texture becomes a texture2d.load of the texel and, unless it needs all four lanes, a
//   selection of lanes. Offsets are int32 if that is known to suffice, otherwise int64; coordinates
//   of texels are int32. Origins are added to the coordinates.
// Requires: stage loops. A store to a texture writes one whole texel; lanes past the last extent
//   are padding.
// Ensures: stage flattened: no N-d access is left, and only texture nodes access textures. Fails
//   with LanesSplitOverThreads if a store writes part of a texel.
// Order: after vectorize_loops and unroll_loops, which show which accesses belong to one texel.
// Example:
//   X.texture[i, j, ramp(0, 1, 4)] = X[i, j, ramp(0, 1, 4)]
//   -> texture2d.store(X.texture, x=j, y=i, X[ramp(i * 128 + j * 4, 1, 4)])
void flatten_storage(Lowering& lowering);

}  // namespace texloom::lower
