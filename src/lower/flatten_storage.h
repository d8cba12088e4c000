#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Turns N-d accesses into linear offsets and texels, by each buffer's layout.
//
// Does: an access to a linear buffer gets one offset; a vector of consecutive offsets stays a
// ramp. A read of a texture becomes a texture2d.load of the texel and, unless it wants all four
// lanes, a choice of lanes. Offsets are int32 where that is known to be enough, else int64;
// coordinates of texels are int32. A store to a texture must write one whole texel (lanes past the
// last extent are padding): texture2d.store. Origins are added to the coordinates.
//
// Stands after vectorising and unrolling, which show what belongs to one texel.
//
// Before: stage Loops. After: stage Flattened: no N-d access is left, textures are accessed by
// texture nodes alone. Fails with LanesSplitOverThreads when a store writes part of a texel.
//
//   X.texture[i, j, ramp(0, 1, 4)] = X[i, j, ramp(0, 1, 4)]
//   -> texture2d.store(X.texture, x=j, y=i, X[ramp(i * 128 + j * 4, 1, 4)])
void flatten_storage(Lowering& lowering);

}  // namespace texloom::lower
