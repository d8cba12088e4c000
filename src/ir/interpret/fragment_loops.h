// The meaning of steps of fragments that move elements, in loops.
#pragma once

#include "ir/stmt.h"

namespace texloom::ir {

// The loops of one thread that make a step other than Mma: as if the thread had all elements of the
// fragments alone. `logical`: whether accesses have one index for each axis, not one offset.
Stmt fragment_loops(const FragmentStep& step, bool logical);

}  // namespace texloom::ir
