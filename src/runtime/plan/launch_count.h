// Counts the launches of a run.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The number of launches and calls in these steps of a valid plan without symbols; a loop iteration
// without launches counts as one. LimitExceeded: more than kMaxLaunches, or many times as many
// steps that launch nothing. InvalidArgument: an extent that cannot be computed.
Result<std::int64_t> launches_of(std::span<const Step> steps);

}  // namespace texloom::runtime
