// How many work groups a dispatch has along each axis, where that follows from the sizes of its
// data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/hal/size.h"
#include "support/status.h"

namespace texloom::hal {

// Over the numbers of a workload, known by their places in it: symbol 0 is the first.
using Grid = std::array<Size, 3>;

// How many numbers the workload has: those up to the last that the grid uses.
std::size_t workload_count(const Grid& grid);

// Zero where an axis has zero groups or less. InvalidArgument: more groups than 32 bits hold, a
// number that there is not, or one that cannot be computed.
Result<std::array<std::uint32_t, 3>> groups_of(const Grid& grid,
                                               std::span<const std::int64_t> workload,
                                               const LoopValues& variables = {});

}  // namespace texloom::hal
