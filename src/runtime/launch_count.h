// The length of a run.
#pragma once

#include <cstdint>

#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The launches of one run of a valid plan without symbols; an iteration of a loop without launches
// counts as one. LimitExceeded: more than kMaxLaunches; InvalidArgument: an extent that has no
// value.
Result<std::int64_t> launches_of(const LaunchPlan& plan);

}  // namespace texloom::runtime
