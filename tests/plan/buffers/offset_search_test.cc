#include "plan/buffers/offset_search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "plan/buffers/stacking.h"
#include "tests/plan/buffers/random_items.h"

namespace texloom::plan {
namespace {

// The search alone, without the plans of first fit, finds the fewest bytes of any plan, and proves
// that one unit less is too few.
TEST(OffsetSearchTest, FindsTheFewestBytesAndRefutesLess) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<BufferItem> items = random_items(seed);
    const Stacking stacking = make_stacking(items);
    if (stacking.items.empty()) continue;
    const std::int64_t fewest = fewest_bytes(items);
    const Effort effort;
    Budget budget(effort);
    OffsetSearch enough(stacking, fewest);
    ASSERT_EQ(enough.run(100'000, budget), SearchOutcome::Found) << seed;
    std::vector<std::int64_t> offsets(items.size(), 0);
    for (std::size_t i = 0; i < stacking.items.size(); ++i) {
      offsets[stacking.items[i].source] = enough.offsets()[i];
    }
    EXPECT_TRUE(is_valid(items, offsets)) << seed;
    EXPECT_EQ(height(stacking, enough.offsets()), fewest) << seed;
    if (fewest - stacking.unit < stacking.lower_bound) continue;
    OffsetSearch too_few(stacking, fewest - stacking.unit);
    EXPECT_EQ(too_few.run(100'000, budget), SearchOutcome::Infeasible) << seed;
  }
}

}  // namespace
}  // namespace texloom::plan
