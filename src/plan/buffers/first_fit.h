// First-fit placement of items in an arena, in several orders, and the improvement of an order.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/stacking.h"

namespace texloom::plan {

// The best offsets found for stacking.items. Several orders of the items are tried; each item of an
// order takes the lowest place that is free during its lifetime. The first orders are by size,
// lifetime and area, the largest first, and by the first operator. Then items on top of the best
// plan move forward in its order, until no steps are left or the plan reaches its lower bound.
//
// Takes at most `steps` steps of the budget; one order is tried even if no steps are left.
std::vector<std::int64_t> first_fit(const Stacking& stacking, std::int64_t steps, Budget& budget);

}  // namespace texloom::plan
