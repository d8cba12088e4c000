// Tests whole plans.
#include "plan/textures/planner.h"

#include <gmock/gmock.h>

#include "tests/plan/textures/problems.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::plan {
namespace {

using hal::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

TextureResult plan(const TextureProblem& problem, TextureOptions options = {}) {
  if (options.effort == kDefaultEffort) options.effort = 1;
  auto result = plan_textures(problem, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

TEST(PlanTextures, PlansNothing) {
  const TextureResult result = plan({});
  EXPECT_THAT(result.plan.images, IsEmpty());
  EXPECT_EQ(result.lower_bound, 0);
}

// Operators that use no item have an order, too.
TEST(PlanTextures, OrdersOperatorsWithoutItems) {
  TextureProblem problem;
  problem.operators.resize(2);
  TextureOptions options;
  options.reorder = true;
  EXPECT_THAT(plan(problem, options).order, ElementsAre(0, 1));
}

TEST(PlanTextures, ProvesThatTheBottleneckIsOptimal) {
  const TextureResult result = plan(bottleneck());
  EXPECT_EQ(result.plan.texels(), 12);
  EXPECT_EQ(result.lower_bound, 12);
  ASSERT_EQ(result.bounds.size(), 1u);
  EXPECT_EQ(result.bounds[0].kind, TextureProof::Kind::Partition);
  EXPECT_THAT(result.bounds[0].ids, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(result.deterministic);
}

// Each format has images of its own, and a proof.
TEST(PlanTextures, SeparatesFormats) {
  TextureProblem problem = chain(3, 1, 2, 1);
  problem.items[1].format = "rgba16float";
  const TextureResult result = plan(problem);
  EXPECT_THAT(result.plan.images,
              ElementsAre(TextureImage{2, 1, "rgba32float"}, TextureImage{2, 1, "rgba16float"}));
  EXPECT_EQ(result.lower_bound, 4);
  EXPECT_EQ(result.bounds.size(), 2u);
}

// Three items in a chain need three images of 4 texels without sharing, and two with sharing.
TEST(PlanTextures, KnowsOtherRules) {
  TextureOptions options;
  options.mode = TextureMode::OnePerTensor;
  EXPECT_EQ(plan(chain(3, 2, 2, 1), options).plan.texels(), 12);
  options.mode = TextureMode::Grow;
  EXPECT_EQ(plan(chain(3, 2, 2, 1), options).plan.texels(), 8);
  EXPECT_EQ(plan(chain(3, 2, 2, 1), options).lower_bound, 8);
}

// An exact item of 1 by 2 texels, and an exact item of 2 by 1 that would fit the same image if it
// were folded. The second item gets its own image, except if giving up its exactness is cheaper.
TEST(PlanTextures, WeighsExactImages) {
  TextureProblem problem;
  problem.items = {item(0, 0, 0, 1, 1, 2), item(1, 1, 1, 1, 2, 1)};
  problem.items[0].exact = true;
  problem.items[1].exact = true;
  EXPECT_EQ(plan(problem).plan.texels(), 4);
  problem.items[0].exact_cost = 3;
  EXPECT_EQ(plan(problem).plan.texels(), 4);
  problem.items[0].exact_cost = 1;
  const TextureResult result = plan(problem);
  EXPECT_EQ(result.plan.texels(), 2);
  EXPECT_EQ(result.lower_bound, 2);
  EXPECT_THAT(result.lost_exact, ElementsAre(0));
}

// Two branches have a large tensor each. If one runs after the other, the tensors share a place.
TEST(PlanTextures, Reorders) {
  TextureProblem problem;
  problem.items = {item(0, 0, 2, 1, 1, 1), item(1, 1, 3, 1, 100, 1), item(2, 2, 4, 1, 100, 1),
                   item(3, 3, 5, 1, 1, 1), item(4, 4, 5, 1, 1, 1)};
  problem.operators = {{{}, {0}, {}},  {{0}, {1}, {}}, {{0}, {2}, {}},
                       {{1}, {3}, {}}, {{2}, {4}, {}}, {{3, 4}, {}, {}}};
  EXPECT_GT(plan(problem).lower_bound, 200);
  TextureOptions options;
  options.reorder = true;
  const TextureResult result = plan(problem, options);
  EXPECT_LT(result.plan.texels(), 110);
  EXPECT_LE(result.lower_bound, result.plan.texels());
  EXPECT_EQ(result.order.size(), 6u);
}

TEST(PlanTextures, RefusesOptions) {
  const auto refuses = [](TextureOptions options, const std::string& part) {
    EXPECT_THAT(plan_textures(bottleneck(), options).status(),
                fails_with(StatusCode::InvalidArgument, part));
  };
  TextureOptions options;
  options.effort = 0;
  refuses(options, "the effort is 0");
  options = {};
  options.time_limit_s = 0.0;
  refuses(options, "the time limit is 0");
  options.time_limit_s = std::numeric_limits<double>::quiet_NaN();
  refuses(options, "the time limit is nan");
  options = {};
  options.reorder = true;
  refuses(options, "does not list them");
}

TEST(PlanTextures, RefusesWrongProblems) {
  TextureProblem problem = bottleneck();
  problem.items[1].width = 0;
  EXPECT_THAT(plan_textures(problem, {}).status(),
              fails_with(StatusCode::InvalidArgument, "item 1 has 1 by 0 texels"));
}

TEST(PlanTextures, IsNotDeterministicByTheClock) {
  TextureOptions options;
  options.time_limit_s = 1e-9;
  const TextureResult result = plan(bottleneck(), options);
  EXPECT_FALSE(result.deterministic);
  EXPECT_GE(result.plan.texels(), 12);
}

// Two runs give the same plan.
TEST(PlanTextures, IsDeterministic) {
  TextureProblem problem;
  for (std::int64_t k = 0; k < 40; ++k) {
    problem.items.push_back(item(k, k, k + 1 + k % 5, 1 + k % 7, 1 + k % 3, 1 + k % 11));
  }
  EXPECT_EQ(plan(problem).plan, plan(problem).plan);
}

}  // namespace
}  // namespace texloom::plan
