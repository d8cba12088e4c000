#include "runtime/hal/grid.h"

#include <algorithm>
#include <limits>

namespace texloom::hal {

std::size_t workload_count(const Grid& grid) {
  std::size_t count = 0;
  for (const Size& groups : grid) count = std::max(count, groups.symbol_count());
  return count;
}

Result<std::array<std::uint32_t, 3>> groups_of(const Grid& grid,
                                               std::span<const std::int64_t> workload,
                                               const LoopValues& variables) {
  std::array<std::uint32_t, 3> groups{};
  for (std::size_t axis = 0; axis < groups.size(); ++axis) {
    std::int64_t count = 0;
    if (const auto constant = grid[axis].constant()) {
      count = *constant;
    } else {
      TL_ASSIGN_OR_RETURN(count, grid[axis].at(workload, variables));
    }
    if (count > std::numeric_limits<std::uint32_t>::max())
      return invalid_argument("{} work groups along axis {}: the number must fit in 32 bits", count,
                              axis);
    groups[axis] = static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0));
  }
  return groups;
}

}  // namespace texloom::hal
