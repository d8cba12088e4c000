#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Refuses what is wrong with the schedule as a whole.
//
// Does: checks arguments against the schedule (all inputs there, nothing named twice,
// declarations that match), element types and ranks of textures, where textures and reductions
// meet, that each stage's scope is visible to its readers, that vectorised axes have constant
// extents, and that reads lie inside their tensors unless a condition guards them. All that is
// wrong is reported together.
//
// Stands before bound inference, whose errors would be harder to understand, and after
// prepare_schedule, so that it sees declared scopes and no inlined stage.
//
// Before: a prepared schedule. After: the same schedule; build_loops can lower it.
void check_schedule(Lowering& lowering);

}  // namespace texloom::lower
