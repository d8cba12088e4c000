// Computes the number of work groups of a dispatch along each axis from the sizes of its data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/hal/size_expression.h"
#include "support/status.h"

namespace texloom::hal {

// One expression per axis; symbol i stands for the i-th number of the workload.
using Grid = std::array<Size, 3>;

// The number of sizes that a workload of this grid must have: the index of the last one that the
// grid uses, plus 1.
std::size_t workload_count(const Grid& grid);

// The number of work groups along each axis; zero if an expression is negative. InvalidArgument: a
// number that exceeds 32 bits, is missing from the workload, or cannot be computed.
Result<std::array<std::uint32_t, 3>> groups_of(const Grid& grid,
                                               std::span<const std::int64_t> workload,
                                               const LoopValues& variables = {});

}  // namespace texloom::hal
