// Vectorizes the loops of stages in textures.
#pragma once

#include "lower/lowering.h"
#include "schedule/bounds/bounds.h"

namespace texloom::lower {

// Purpose: makes stages in textures write whole texels.
// Requires: stage te, without reads of inlined stages.
// Ensures: each stage in a texture has an innermost vectorized loop of extent 4 over the lanes of a
//   texel. The loop is split from the last axis, or from the axis that the layout maps to lanes,
//   unless that axis is already vectorized by 4. Stages that were attached at this axis are now
//   attached at the loop over texels. Fails with LanesSplitOverThreads or TensorizeMismatch; warns
//   with ThreadsOfTexels if this leaves fewer threads than the user asked for.
// Order: after apply_transforms, which gives layouts; before bounds are inferred, where this split
//   is a relation like any other.
// Example:
//   compute T(x < 4, c < 7): ...    ->    compute T(x < 4, c < 7): ...
//     scope texture                         scope texture
//                                           split c factor=4 exact -> c.outer, c.inner
//                                           vectorize c.inner
void vectorize_texels(Lowering& lowering);

// Checks that the computed indices, which may be only part of the texture, consist of whole texels:
// where loops were split and fused, a part has to end at the end of a texel. Fails with
// LanesSplitOverThreads.
void check_computed_lanes(const schedule::Schedule& schedule, const schedule::Bounds& bounds);

}  // namespace texloom::lower
