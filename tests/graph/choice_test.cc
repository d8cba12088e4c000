// Tests the choice of options against all combinations.
#include "graph/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace texloom::graph {
namespace {

using Options = std::vector<std::size_t>;

// The cheapest of all combinations; of equal ones, the first.
std::pair<double, Options> by_enumeration(const ChoiceProblem& problem) {
  Options options(problem.nodes.size(), 0), best = options;
  double least = cost_of(problem, options);
  while (true) {
    std::size_t node = options.size();
    while (node > 0 && ++options[node - 1] == problem.nodes[node - 1].size()) options[--node] = 0;
    if (node == 0) return {least, best};
    const double cost = cost_of(problem, options);
    if (cost >= least) continue;
    least = cost;
    best = options;
  }
}

// Costs are small integers, so that sums are exact and often equal.
ChoiceProblem random_problem(std::mt19937& random) {
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  ChoiceProblem problem;
  const int nodes = number(1, 7);
  for (int n = 0; n < nodes; ++n) {
    const auto storages = static_cast<std::size_t>(number(1, 3));
    auto& conversions = problem.conversions.emplace_back(storages);
    for (std::size_t a = 0; a < storages; ++a) {
      for (std::size_t b = 0; b < storages; ++b)
        conversions[a].push_back(a == b ? 0 : number(0, 4));
    }
    std::set<std::size_t> inputs;
    for (int i = number(0, 3); i > 0 && n > 0; --i)
      inputs.insert(static_cast<std::size_t>(number(0, n - 1)));
    auto& options = problem.nodes.emplace_back();
    for (int i = number(1, 3); i > 0; --i) {
      ChoiceOption& option = options.emplace_back();
      option.cost = number(0, 9);
      for (const std::size_t input : inputs) {
        const auto count = static_cast<int>(problem.conversions[input].size());
        option.reads.push_back({input, static_cast<std::size_t>(number(0, count - 1))});
      }
      const auto own = static_cast<std::size_t>(number(0, static_cast<int>(storages) - 1));
      option.writes = {{static_cast<std::size_t>(n), own}};
    }
  }
  return problem;
}

TEST(Choice, IsTheCheapestOfAllCombinations) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const ChoiceProblem problem = random_problem(random);
    const auto [cost, options] = by_enumeration(problem);
    const Choice choice = choose(problem);
    EXPECT_EQ(choice.cost, cost) << "problem " << i;
    EXPECT_EQ(choice.options, options) << "problem " << i;
    EXPECT_TRUE(choice.is_optimal());
    EXPECT_EQ(cost_of(problem, choice.options), choice.cost);
  }
}

// With few partial choices the result may miss the best, but never its own bounds.
TEST(Choice, ABoundedSearchSaysHowFarItMayMiss) {
  std::mt19937 random(2);
  int missed = 0, proven = 0;
  for (int i = 0; i < 400; ++i) {
    const ChoiceProblem problem = random_problem(random);
    const double least = by_enumeration(problem).first;
    const Choice choice = choose(problem, 1);
    EXPECT_EQ(cost_of(problem, choice.options), choice.cost);
    EXPECT_LE(choice.lower_bound, least) << "problem " << i;
    EXPECT_GE(choice.cost, least);
    missed += choice.cost > least ? 1 : 0;
    proven += choice.is_optimal() ? 1 : 0;
    if (choice.is_optimal()) {
      EXPECT_EQ(choice.cost, least) << "problem " << i;
    }
  }
  EXPECT_GT(missed, 0);
  EXPECT_GT(proven, 0);
}

// Two readers that want the same storage share one conversion, so that the writer may keep its own.
TEST(Choice, AConversionIsPaidOnce) {
  ChoiceProblem problem;
  problem.conversions = {{{0, 5}, {5, 0}}};
  problem.nodes = {
      {{.cost = 1, .reads = {}, .writes = {{0, 0}}}, {.cost = 8, .reads = {}, .writes = {{0, 1}}}},
      {{.cost = 1, .reads = {{0, 1}}, .writes = {}}},
      {{.cost = 1, .reads = {{0, 1}}, .writes = {}}}};
  const Choice choice = choose(problem);
  EXPECT_EQ(choice.options, (Options{0, 0, 0}));
  EXPECT_EQ(choice.cost, 8);
}

}  // namespace
}  // namespace texloom::graph
