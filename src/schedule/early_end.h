// Loops of a reduction that need not run to the end.
#pragma once

#include "schedule/bounds.h"

namespace texloom::schedule {

// Ends serial loops over reduction axes where the reduction's condition is known to fail for all
// that follows: with `where=k < i + 1` the loop over k runs i + 1 times, if i is known around it;
// in an inner part of k, as far as is left for it. What is attached to such a loop, or inside it,
// must not need all threads of the block: that is not so in shared memory, nor where a buffer is
// filled ahead. `own` are the bounds of the stage, complete but for this; `ranges` hold for its
// loops.
void end_loops_early(const Schedule& schedule, const Stage& stage, const ir::arith::Ranges& ranges,
                     StageBounds& own);

}  // namespace texloom::schedule
