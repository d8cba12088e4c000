// Warns of a reduction that is split into partial results, which its reducer does not allow.
#pragma once

#include <optional>
#include <string_view>

#include "schedule/schedule.h"

namespace texloom::schedule {

// A warning if the stage's reducer is not associative, so that results depend on how the directive
// groups the values. `how`: "split by rfactor", "bound to threadIdx.x". Call it before the
// directive.
std::optional<Diagnostic> regrouped_reduction(const Stage& stage, std::string_view how,
                                              const SourceLocation& where);

}  // namespace texloom::schedule
