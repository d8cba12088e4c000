// Finds the barriers of a plan ahead of time.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Inserts a barrier in front of each step that depends on one since the latest barrier, and lets
// the plan name its barriers; those that it names already stay. If a loop depends on steps before
// it, the barrier is in front of the loop; if its iterations depend on one another, the barrier is
// in its body. Arguments are taken to be distinct memory: runs refuse others.
//
// InvalidArgument for a plan with symbols or without a workspace: without places it is not known
// which temporaries share memory. `plan` is valid.
Status add_barriers(LaunchPlan& plan);

}  // namespace texloom::runtime
