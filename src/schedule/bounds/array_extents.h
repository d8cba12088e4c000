// The extents of the arrays that a call passes.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

// The extents of all inputs and outputs. Each extent is 0 or more and may contain symbols.
ir::Exprs array_extents(const Schedule& schedule);

}  // namespace texloom::schedule
