// The symbols of a plan at a call: their values, and the plan with these values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The values that the caller passes.
using GivenSymbols = std::vector<std::optional<std::int64_t>>;  // one for each symbol of the plan
using Shape = std::vector<std::int64_t>;

// The values of the plan's symbols for arrays of these shapes, in the order of its arguments. An
// extent that is one symbol, multiplied, moved or combined with those that are known, gives it; all
// extents are then held against the arrays. InvalidArgument names the argument, the axis and what
// is expected there: another rank or extent, an extent below 1, a symbol that no extent determines
// or that exceeds 2^30.
Result<std::vector<std::int64_t>> bind_symbols(const LaunchPlan& plan,
                                               std::span<const Shape> shapes,
                                               const GivenSymbols& given);

// The plan of one call: no symbols are left, all sizes are numbers but those that depend on loop
// variables. InvalidArgument where an array has more than 2^30 elements, which kernels do not
// count.
Result<LaunchPlan> instantiate(const LaunchPlan& plan, std::span<const std::int64_t> symbols);

}  // namespace texloom::runtime
