#include "plan/buffers/offsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

#include "tests/plan/buffers/random_items.h"

namespace texloom::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A plan without items takes no bytes.
TEST(OffsetsTest, NoItems) {
  const OffsetPlan plan = *minimize_offsets({});
  EXPECT_TRUE(plan.offsets.empty());
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_TRUE(plan.optimal());
}

// The last operator of a lifetime still uses the item: [0, 1] and [1, 2] overlap, but [0, 0] and
// [1, 2] may share bytes.
TEST(OffsetsTest, LifetimesAreInclusive) {
  EXPECT_EQ(minimize_offsets(std::vector<BufferItem>{{{0, 1}, 4}, {{1, 2}, 4}})->bytes, 8);
  EXPECT_EQ(minimize_offsets(std::vector<BufferItem>{{{0, 0}, 4}, {{1, 2}, 4}})->bytes, 4);
}

// Lifetimes may end at the largest 64-bit operator number, which has no successor.
TEST(OffsetsTest, TheLastOperator) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const std::vector<BufferItem> items = {{{0, kLast}, 4}, {{kLast, kLast}, 2}, {{1, 1}, 2}};
  EXPECT_EQ(minimize_offsets(items)->bytes, 6);
}

// An item of zero bytes neither takes nor needs a place.
TEST(OffsetsTest, ZeroBytes) {
  const OffsetPlan plan = *minimize_offsets(std::vector<BufferItem>{{{0, 0}, 0}, {{0, 0}, 4}});
  EXPECT_EQ(plan.bytes, 4);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0));
}

// Two items, of 5 and of 8 bytes, begin at multiples of 8. With the item of 5 bytes below, a gap of
// 3 bytes is lost; with the item of 5 bytes on top, there is no gap.
TEST(OffsetsTest, Alignment) {
  const std::vector<BufferItem> items = {{{0, 0}, 5, 8}, {{0, 0}, 8, 8}};
  const OffsetPlan plan = *minimize_offsets(items);
  EXPECT_THAT(plan.offsets, ElementsAre(8, 0));
  EXPECT_EQ(plan.bytes, 13);
  EXPECT_EQ(plan.lower_bound, 13);
}

// One byte above the capacity is proved not to fit, without a search.
TEST(OffsetsTest, AnItemLargerThanTheCapacity) {
  const OffsetPlan plan = *fit_offsets(std::vector<BufferItem>{{{0, 0}, 9}}, 8);
  EXPECT_EQ(plan.bytes, 9);
  EXPECT_GT(plan.lower_bound, 8);
  EXPECT_EQ(plan.proof, OffsetProof::LiveBytes);
}

TEST(OffsetsTest, WrongInputIsRefused) {
  EXPECT_THAT(place_offsets(std::vector<BufferItem>{{{1, 0}, 1}}).status().message(),
              HasSubstr("item 0"));
  EXPECT_THAT(minimize_offsets(std::vector<BufferItem>{{{0, 0}, -1}}).status().message(),
              HasSubstr("item 0"));
  EXPECT_THAT(fit_offsets({}, -1).status().message(), HasSubstr("capacity is negative"));
}

// All plans of small random problems: the searches find the fewest bytes, prove it, and prove that
// one byte less is too few; the quick plan is valid; the bound holds.
TEST(OffsetsTest, EqualsTheEnumerationOfAllPlans) {
  int proved_by_search = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<BufferItem> items = random_items(seed);
    const std::int64_t fewest = fewest_bytes(items);
    const OffsetPlan quick = *place_offsets(items);
    EXPECT_TRUE(is_valid(items, quick.offsets)) << seed;
    EXPECT_GE(quick.bytes, fewest) << seed;
    EXPECT_LE(quick.lower_bound, fewest) << seed;
    const OffsetPlan plan = *minimize_offsets(items);
    EXPECT_TRUE(is_valid(items, plan.offsets)) << seed;
    EXPECT_EQ(plan.bytes, fewest) << seed;
    EXPECT_TRUE(plan.optimal()) << seed;
    proved_by_search += plan.proof == OffsetProof::Exhaustive ? 1 : 0;
    if (fewest > 0) {
      EXPECT_GT(fit_offsets(items, fewest - 1)->lower_bound, fewest - 1) << seed;
    }
  }
  EXPECT_GT(proved_by_search, 10);
}

// Without steps there is still a valid plan.
TEST(OffsetsTest, NoEffort) {
  const std::vector<BufferItem> items = random_items(7);
  const OffsetPlan plan = *minimize_offsets(items, {.steps = 0});
  EXPECT_TRUE(is_valid(items, plan.offsets));
  EXPECT_EQ(plan.steps, 0);
}

// Cancellation ends the search with the best plan so far. A time limit makes plans depend on time.
TEST(OffsetsTest, CanceledAndLimited) {
  const std::vector<BufferItem> items = random_items(7);
  const OffsetPlan canceled = *minimize_offsets(items, {.canceled = [] { return true; }});
  EXPECT_TRUE(is_valid(items, canceled.offsets));
  EXPECT_TRUE(canceled.deterministic);
  const OffsetPlan limited = *minimize_offsets(items, {.time_limit = std::chrono::nanoseconds(0)});
  EXPECT_TRUE(is_valid(items, limited.offsets));
  EXPECT_FALSE(limited.deterministic);
}

}  // namespace
}  // namespace texloom::plan
