// Finds the barriers of a plan ahead of time.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Inserts a barrier before each step that depends on a step since the latest barrier, and marks the
// plan as one that names its barriers. Barriers that the plan already names stay. If a loop depends
// on steps before it, the barrier is in front of the loop; if its iterations depend on one another,
// the barrier is in its body. Arguments are assumed not to share memory, because a run
// refuses arguments that share memory if it writes one of them.
//
// InvalidArgument for a plan with symbols or without a workspace: without a workspace it is not
// known which temporaries share memory. `plan` is valid.
Status add_barriers(LaunchPlan& plan);

}  // namespace texloom::runtime
