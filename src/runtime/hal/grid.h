// The number of work groups of a dispatch along each axis, as expressions of the sizes of its data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/hal/size_expression.h"
#include "support/status.h"

namespace texloom::hal {

// In terms of the numbers of a workload: symbol 0 is the first.
using Grid = std::array<Size, 3>;

// The size of the workload: the numbers up to the last that the grid uses.
std::size_t workload_count(const Grid& grid);

// Zero where an axis has zero groups or less. InvalidArgument: more groups than 32 bits hold, a
// missing number, or one that cannot be computed.
Result<std::array<std::uint32_t, 3>> groups_of(const Grid& grid,
                                               std::span<const std::int64_t> workload,
                                               const LoopValues& variables = {});

}  // namespace texloom::hal
