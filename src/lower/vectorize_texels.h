// The loops of stages that lie in textures.
#pragma once

#include "lower/lowering.h"
#include "schedule/bounds.h"

namespace texloom::lower {

// Each writes whole texels: the loop over the lanes of one is a vector of four, split from the axis
// of the lanes and innermost; what was computed at that axis is computed for a whole texel. Fails
// with LanesSplitOverThreads or TensorizeMismatch; warns where there are fewer threads than asked
// for.
void vectorize_texels(Lowering& lowering);

// The same of the indices that are computed, which may be a part of the texture: where loops were
// split and fused, a part has to end where a texel does. Fails with LanesSplitOverThreads.
void check_computed_lanes(const schedule::Schedule& schedule, const schedule::Bounds& bounds);

}  // namespace texloom::lower
