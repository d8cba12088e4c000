// The extents of the arrays that a call passes.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

// The extents of all inputs and outputs. Each extent is at least 1 and may contain symbols.
ir::Exprs array_extents(const Schedule& schedule);

}  // namespace texloom::schedule
