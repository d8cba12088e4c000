// The loops of stages that lie in textures.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Each writes whole texels: the loop over the lanes of one is a vector of four, split from the axis
// of the lanes and innermost; what was computed at that axis is computed for a whole texel. Fails
// with LanesSplitOverThreads or TensorizeMismatch; warns where there are fewer threads than asked
// for.
void vectorize_texels(Lowering& lowering);

}  // namespace texloom::lower
