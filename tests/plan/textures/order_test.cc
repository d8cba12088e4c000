// Tests orders of operators.
#include "plan/textures/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two branches of a large and a small tensor: operators 1 and 2 write the large ones from item 0,
// operators 3 and 4 the small ones from these, operator 5 reads both small ones. In this order,
// both large tensors are live together; 1, 3, 2, 4 avoids that.
TextureProblem branches() {
  TextureProblem problem;
  problem.items = {item(0, 0, 2, 1, 1, 1), item(1, 1, 3, 1, 100, 1), item(2, 2, 4, 1, 100, 1),
                   item(3, 3, 5, 1, 1, 1), item(4, 4, 5, 1, 1, 1)};
  problem.operators = {{{}, {0}, {}},  {{0}, {1}, {}}, {{0}, {2}, {}},
                       {{1}, {3}, {}}, {{2}, {4}, {}}, {{3, 4}, {}, {}}};
  return problem;
}

TEST(Order, FollowsWritersAndWhatIsNamed) {
  TextureProblem problem = branches();
  problem.operators[4].after = {3};
  EXPECT_THAT(predecessors(problem),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1),
                          ElementsAre(2, 3), ElementsAre(3, 4)));
}

TEST(Order, GivesLifetimes) {
  const TextureProblem changed = reordered(branches(), {0, 1, 3, 2, 4, 5});
  EXPECT_EQ(changed.items[0].lifetime, (Lifetime{0, 3}));
  EXPECT_EQ(changed.items[1].lifetime, (Lifetime{1, 2}));
  EXPECT_EQ(changed.items[2].lifetime, (Lifetime{3, 4}));
  EXPECT_EQ(changed.items[3].lifetime, (Lifetime{2, 5}));
}

// The best order comes first. The given order is among the results, and every result is allowed.
TEST(Order, SeparatesBranches) {
  const TextureProblem problem = branches();
  const std::vector<OperatorOrder> orders = likely_orders(problem, 10'000);
  EXPECT_THAT(orders, testing::Contains(OperatorOrder{0, 1, 2, 3, 4, 5}));
  const TextureProblem best = reordered(problem, orders[0]);
  EXPECT_FALSE(best.items[1].lifetime.meets(best.items[2].lifetime));
  const auto earlier = predecessors(problem);
  for (const OperatorOrder& order : orders) {
    for (std::size_t p = 0; p < order.size(); ++p) {
      for (const std::int64_t before : earlier[order[p]]) {
        EXPECT_LT(std::find(order.begin(), order.end(), before) - order.begin(), p);
      }
    }
  }
}

// Item 0 is live at operators 0, 1 and 2 in each order, since these operators use item 0. Item 3 is
// live when operator 5 runs, but not always when operator 4 runs.
TEST(Order, FindsWhatIsAlwaysLive) {
  const TextureProblem problem = branches();
  const auto instances = make_instances(problem, std::vector<bool>(5, false), true).value();
  EXPECT_THAT(always_live_sets(problem, instances[0]),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2), ElementsAre(1, 3),
                          ElementsAre(2, 4), ElementsAre(3, 4)));
}

// A tensor that skips operators is live at the skipped operators in every order: operator 1 comes
// after the writer of item 0 and before the reader.
TEST(Order, KnowsSkippingTensors) {
  TextureProblem problem;
  problem.items = {item(0, 0, 2, 1, 1, 1), item(1, 0, 1, 1, 1, 1), item(2, 1, 2, 1, 1, 1)};
  problem.operators = {{{}, {0, 1}, {}}, {{1}, {2}, {}}, {{0, 2}, {}, {}}};
  const auto instances = make_instances(problem, std::vector<bool>(3, false), true).value();
  EXPECT_THAT(always_live_sets(problem, instances[0]), ElementsAre(ElementsAre(0, 1, 2)));
}

}  // namespace
}  // namespace texloom::plan
