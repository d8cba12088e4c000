#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Brings the schedule into the form that the rest of lowering expects.
//
// Does: gives each argument's stage the scope its declaration states (an input's lies in global
// memory, or is refused later) and makes it an output (the caller sees it), makes layouts of axes
// that transform_layout gave, replaces reads of inlined stages by their expressions, and vectorises
// the lane axis of each texture stage: the innermost part of the last axis, or of the one that its
// layout makes lanes, is split by 4 unless it is vectorised by 4 already.
//
// Stands first because bound inference sees splits as relations and reads as they will be.
//
// Before: any schedule. After: no stage is inlined, each scope that an argument states is set,
// each texture stage has a vectorised loop of extent 4 over its lanes.
//
//   s[Xt]: axes (x, y, c), c of extent 7      ->   leaves (x, y, c.outer, vectorized c.inner)
void prepare_schedule(Lowering& lowering);

}  // namespace texloom::lower
