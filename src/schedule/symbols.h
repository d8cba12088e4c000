// Symbols of a schedule: variables in the extents of its tensors, which each call gives values.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

// The extents of inputs and outputs, which are arrays of the call: each is at least 1.
ir::Exprs extents_at_calls(const Schedule& schedule);

}  // namespace texloom::schedule
