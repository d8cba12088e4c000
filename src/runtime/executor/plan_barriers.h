// Finds the barriers of a plan ahead of time.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Inserts a barrier before each step that depends on a step since the latest barrier, and marks the
// plan as one that names its barriers. Barriers that the plan already names stay. If a loop depends
// on steps before it, the barrier is in front of the loop; if its iterations depend on one another,
// the barrier is in its body. Arguments are assumed to be distinct memory, because runs refuse
// others.
//
// InvalidArgument for a plan with symbols or without a workspace: without places it is not known
// which temporaries share memory. `plan` is valid.
Status add_barriers(LaunchPlan& plan);

}  // namespace texloom::runtime
