#include "plan/buffers/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/plan/buffers/random_items.h"

namespace texloom::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool apart(const std::vector<BufferItem>& items, const std::vector<Separation>& separations,
           std::size_t a, std::size_t b) {
  return items[a].lifetime.meets(items[b].lifetime) ||
         std::any_of(separations.begin(), separations.end(), [&](const Separation& pair) {
           return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
         });
}

// The fewest bytes of any partition that extends `objects`, a partition of the items before `next`.
std::int64_t fewest_object_bytes(const std::vector<BufferItem>& items,
                                 const std::vector<Separation>& separations,
                                 std::vector<std::vector<std::size_t>>& objects,
                                 std::size_t next = 0) {
  if (next == items.size()) {
    std::int64_t bytes = 0;
    for (const auto& object : objects) {
      std::int64_t largest = 0;
      for (const std::size_t i : object) largest = std::max(largest, items[i].size);
      bytes += largest;
    }
    return bytes;
  }
  std::int64_t fewest = kMaxTotalBytes;
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const bool fits = std::none_of(objects[k].begin(), objects[k].end(), [&](std::size_t i) {
      return apart(items, separations, i, next);
    });
    if (!fits) continue;
    objects[k].push_back(next);
    fewest = std::min(fewest, fewest_object_bytes(items, separations, objects, next + 1));
    objects[k].pop_back();
  }
  objects.push_back({next});
  fewest = std::min(fewest, fewest_object_bytes(items, separations, objects, next + 1));
  objects.pop_back();
  return fewest;
}

// Items that follow each other share an object of the size of the larger.
TEST(ObjectsTest, ItemsThatFollowEachOtherShare) {
  const std::vector<BufferItem> items = {{{0, 0}, 4}, {{1, 1}, 8}, {{1, 2}, 2}};
  const ObjectPlan plan = *assign_objects(items);
  EXPECT_THAT(plan.objects, ElementsAre(0, 0, 1));
  EXPECT_THAT(plan.sizes, ElementsAre(8, 2));
  EXPECT_EQ(plan.bytes, 10);
  EXPECT_TRUE(plan.optimal());
  EXPECT_EQ(plan.proof, ObjectProof::LargestLive);
}

// Separated items do not share, although they are never live together; only the search, not a
// bound, shows that the second object must exist.
TEST(ObjectsTest, SeparatedItemsDoNotShare) {
  const std::vector<BufferItem> items = {{{0, 0}, 4}, {{1, 1}, 8}};
  const ObjectPlan plan = *assign_objects(items, std::vector<Separation>{{1, 0}});
  EXPECT_EQ(plan.bytes, 12);
  EXPECT_TRUE(plan.optimal());
  EXPECT_EQ(plan.proof, ObjectProof::Exhaustive);
}

// More items than a search takes share objects by the same rules: a chain of neighbors that overlap
// needs two objects, and a third for a separated item.
TEST(ObjectsTest, ManyItemsShare) {
  std::vector<BufferItem> items;
  for (int i = 0; i < 3000; ++i) items.push_back({{i, i + 1}, 4});
  EXPECT_EQ(assign_objects(items)->bytes, 8);
  const std::size_t last = items.size() - 1;
  const ObjectPlan plan =
      *assign_objects(items, std::vector<Separation>{{last, 0}, {last, 1}, {last, 2}});
  EXPECT_EQ(plan.bytes, 12);
  EXPECT_NE(plan.objects[last], plan.objects[0]);
  EXPECT_NE(plan.objects[last], plan.objects[1]);
}

TEST(ObjectsTest, WrongInputIsRefused) {
  EXPECT_THAT(assign_objects(std::vector<BufferItem>{{{2, 1}, 4}}).status().message(),
              HasSubstr("item 0"));
  EXPECT_THAT(assign_objects({}, std::vector<Separation>{{0, 1}}).status().message(),
              HasSubstr("there are 0 items"));
}

// The plan equals the best of all partitions of small random problems, also with separations.
TEST(ObjectsTest, EqualsTheEnumerationOfAllPartitions) {
  int proved_by_search = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<BufferItem> items = random_items(seed);
    std::vector<Separation> separations;
    for (std::size_t i = 1; i < items.size() && seed % 2 == 0; ++i)
      separations.push_back({i - 1, i});
    std::vector<std::vector<std::size_t>> objects;
    const std::int64_t fewest = fewest_object_bytes(items, separations, objects);
    const ObjectPlan plan = *assign_objects(items, separations);
    EXPECT_EQ(plan.bytes, fewest) << seed;
    EXPECT_TRUE(plan.optimal()) << seed;
    proved_by_search += plan.proof == ObjectProof::Exhaustive ? 1 : 0;
    for (std::size_t a = 0; a < items.size(); ++a) {
      EXPECT_LE(items[a].size, plan.sizes[plan.objects[a]]) << seed;
      for (std::size_t b = 0; b < a; ++b) {
        const bool share = plan.objects[a] == plan.objects[b];
        EXPECT_FALSE(share && apart(items, separations, a, b)) << seed;
      }
    }
  }
  EXPECT_GT(proved_by_search, 10);
}

// Without steps, the result is the greedy plan, and the bound holds for it.
TEST(ObjectsTest, NoEffort) {
  const ObjectPlan plan = *assign_objects(random_items(7), {}, {.steps = 0});
  EXPECT_EQ(plan.steps, 0);
  EXPECT_GE(plan.bytes, plan.lower_bound);
}

}  // namespace
}  // namespace texloom::plan
