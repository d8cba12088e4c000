// Tests lower bounds and their proofs.
#include "plan/textures/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kManySteps = 1'000'000;

PartitionProblem relaxed(const TextureProblem& problem) {
  const auto instances =
      make_instances(problem, std::vector<bool>(problem.items.size(), false)).value();
  return partition_problem(instances[0], live_sets(instances[0]));
}

// A live set counts only if an item dies before the next one is born. Any other live set is a
// subset of one that counts.
TEST(Bound, FindsLiveSets) {
  TextureProblem problem;
  problem.items = {item(0, 0, 5, 1, 1, 1), item(1, 1, 2, 1, 1, 1), item(2, 2, 2, 1, 1, 1),
                   item(3, 4, 6, 1, 1, 1)};
  EXPECT_THAT(relaxed(problem).live_sets, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 3)));
}

TEST(Bound, IsTheLiveTexelsIfNothingForcesMore) {
  const TextureProof proof = lower_bound(relaxed(chain(5, 2, 3, 4)), {48, kManySteps});
  EXPECT_EQ(proof.kind, TextureProof::Kind::Live);
  EXPECT_EQ(proof.texels, 48);
  EXPECT_EQ(proof.items.size(), 2u);
}

// The bound needs all four items of the bottleneck; further items change nothing.
TEST(Bound, ExceedsTheLiveTexels) {
  TextureProblem problem = bottleneck();
  for (std::int64_t k = 4; k < 9; ++k) {
    problem.items.push_back(item(k, k, k + 1, 1, 1, 1));
    problem.read_write.emplace_back(k - 1, k);
  }
  const TextureProof proof = lower_bound(relaxed(problem), {20, kManySteps});
  EXPECT_EQ(proof.kind, TextureProof::Kind::Partition);
  EXPECT_EQ(proof.texels, 12);
  EXPECT_THAT(proof.items, ElementsAre(0, 1, 2, 3));
}

// Without steps, the bound is the number of live texels.
TEST(Bound, NeedsSteps) { EXPECT_EQ(lower_bound(relaxed(bottleneck()), {20, 0}).texels, 11); }

// The search stops as soon as the bound equals the known plan of 12 texels.
TEST(Bound, StopsAtAKnownPlan) {
  EXPECT_EQ(lower_bound(relaxed(bottleneck()), {12, kManySteps}).texels, 12);
}

TEST(Partition, FindsTheLeastSumOfPeaks) {
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 2, 3}, {100, kManySteps}), 12);
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 3}, {100, kManySteps}), 11);
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {}, {100, kManySteps}), 0);
}

TEST(Partition, SaysThatNothingCostsLess) {
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 2, 3}, {12, kManySteps}), 12);
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 2, 3}, {8, kManySteps}), 8);
}

TEST(Partition, GivesUpWhenTold) {
  const PartitionLimits limits{100, kManySteps, [] { return true; }};
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 2, 3}, limits), std::nullopt);
}

TEST(Partition, GivesUp) {
  std::int64_t steps = 0;
  EXPECT_EQ(least_partition(relaxed(bottleneck()), {0, 1, 2, 3}, {100, 3}, &steps), std::nullopt);
  EXPECT_GT(steps, 3);
}

// Two items of 6 texels, then items of 8 and of 4: one image of 12 texels holds them all. If images
// have at most 10 texels, two images take 8 + 6 texels: one for an item of 6 and the item of 8, the
// other for the second item of 6 and the item of 4.
TEST(Partition, RespectsTheLargestImage) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 1, 6, 1), item(1, 0, 0, 1, 6, 1), item(2, 1, 1, 1, 8, 1),
                   item(3, 1, 1, 1, 4, 1)};
  PartitionProblem limited = relaxed(problem);
  EXPECT_EQ(least_partition(limited, {0, 1, 2, 3}, {100, kManySteps}), 12);
  limited.max_peak = 10;
  EXPECT_EQ(least_partition(limited, {0, 1, 2, 3}, {100, kManySteps}), 14);
}

// The last of 64 items is as good as the first: one image after the other is reused.
TEST(Partition, TakesSixtyFourItems) {
  std::vector<int> all;
  for (int k = 0; k < 64; ++k) all.push_back(k);
  EXPECT_EQ(least_partition(relaxed(chain(64, 1, 1, 1)), all, {100, kManySteps}), 2);
}

}  // namespace
}  // namespace texloom::plan
