// Ends loops of a reduction early.
#pragma once

#include "schedule/bounds/bounds.h"

namespace texloom::schedule {

// Ends a serial loop over a reduction axis when the reduction's condition is known to be false for
// all further iterations: with `where=k < i + 1` the loop over k runs i + 1 times if i is known
// around it; a loop over an inner part of k runs over the remaining iterations. A loop is left
// alone if something attached to it, or inside it, needs all threads of the block: stages in shared
// memory, and buffers that are filled ahead. `own` are the bounds of the stage, complete except for
// the early ends; `ranges` hold for its loops.
void end_loops_early(const Schedule& schedule, const Stage& stage, const ir::arith::Ranges& ranges,
                     StageBounds& own);

}  // namespace texloom::schedule
