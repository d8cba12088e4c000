// First-fit placement of items in an arena, in several orders, and the improvement of an order.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/stacking.h"

namespace texloom::plan {

// The best offsets found for stacking.items. Each item, in the order that is tried, takes the
// lowest place that is free during its lifetime. The orders are by size, lifetime and area, the
// largest first, and by the first operator; then the items on top of the best plan are moved
// forward in its order, as long as steps are left and the plan is above its lower bound.
//
// Takes at most `steps` steps of the budget; one order is tried even if none is left.
std::vector<std::int64_t> first_fit(const Stacking& stacking, std::int64_t steps, Budget& budget);

}  // namespace texloom::plan
