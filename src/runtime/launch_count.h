// Counts the launches of a run.
#pragma once

#include <cstdint>

#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The number of launches in one run of a valid plan without symbols; a loop iteration without
// launches counts as one. LimitExceeded: more than kMaxLaunches. InvalidArgument: an extent that
// cannot be computed.
Result<std::int64_t> launches_of(const LaunchPlan& plan);

}  // namespace texloom::runtime
