// Checks a launch plan before it runs.
#pragma once

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Checks everything that does not depend on the device: indices, lifetimes of temporaries, symbols,
// and whether operands fit their parameters in kind, format, extent and value. If the plan has no
// symbols, also checks the number of launches and their grids. InvalidArgument names the kernel,
// tensor or step; LimitExceeded: more than kMaxLaunches.
Status validate(const LaunchPlan& plan);

}  // namespace texloom::runtime
