// Checks a launch plan before it is run.
#pragma once

#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Whether the plan is consistent, whatever the device: indices, the lives of temporaries, symbols,
// operands that fit their parameters in kind, format, extent and value; without symbols also the
// number of its launches, and their grids. InvalidArgument names the kernel, tensor or step;
// LimitExceeded: more than kMaxLaunches.
Status validate(const LaunchPlan& plan);

}  // namespace texloom::runtime
