// Tests the choice of options against all combinations.
#include "graph/scopes/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace texloom::graph {
namespace {

using Options = std::vector<std::size_t>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The cost of a choice as choice.h defines it: the costs of its options and conversions. Infinite
// if the tensors that are live at a node, from first to last use, exceed a limit.
double priced(const ChoiceProblem& problem, const Options& options) {
  double cost = 0;
  std::map<StoredTensor, std::vector<std::size_t>> used;  // the nodes that use it
  std::map<std::size_t, std::set<std::size_t>> written;   // by tensor: its storages
  for (std::size_t n = 0; n < options.size(); ++n) {
    const ChoiceOption& option = problem.nodes[n][options[n]];
    cost += option.cost;
    for (const StoredTensor& write : option.writes) {
      written[write.tensor].insert(write.storage);
      used[write].push_back(n);
    }
    for (const StoredTensor& read : option.reads) {
      if (!used.contains(read)) {
        const auto& table = problem.conversions[read.tensor];
        const auto& from = written.at(read.tensor);
        const std::size_t source =
            *std::min_element(from.begin(), from.end(), [&](std::size_t a, std::size_t b) {
              return table[a][read.storage] < table[b][read.storage];
            });
        cost += table[source][read.storage];
        used[{read.tensor, source}].push_back(n);
      }
      used[read].push_back(n);
    }
  }
  for (const ChoiceLimit& limit : problem.limits) {
    for (std::size_t n = 0; n < options.size(); ++n) {
      double sum = 0;
      for (const auto& [tensor, nodes] : used) {
        if (nodes.front() <= n && n <= nodes.back())
          sum += limit.uses[tensor.tensor][tensor.storage];
      }
      if (sum > limit.most) return kInfinite;
    }
  }
  return cost;
}

// The cheapest of all combinations; the first one if several cost the same.
std::pair<double, Options> by_enumeration(const ChoiceProblem& problem) {
  Options options(problem.nodes.size(), 0), best = options;
  double least = priced(problem, options);
  while (true) {
    std::size_t node = options.size();
    while (node > 0 && ++options[node - 1] == problem.nodes[node - 1].size()) options[--node] = 0;
    if (node == 0) return {least, best};
    const double cost = priced(problem, options);
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
      const auto other = static_cast<std::size_t>(number(0, static_cast<int>(storages) - 1));
      if (other != own && number(0, 2) == 0)
        option.writes.push_back({static_cast<std::size_t>(n), other});
    }
  }
  return problem;
}

// Limits some resources; some choices stay within these limits.
void add_limits(ChoiceProblem& problem, std::mt19937& random) {
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int i = number(1, 2); i > 0; --i) {
    ChoiceLimit& limit = problem.limits.emplace_back();
    for (const auto& storages : problem.conversions) {
      auto& uses = limit.uses.emplace_back();
      for (std::size_t s = 0; s < storages.size(); ++s) uses.push_back(number(0, 3));
    }
    limit.most = number(3, 10);
  }
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

TEST(Choice, IsTheCheapestOfThoseWithinLimits) {
  std::mt19937 random(3);
  int changed = 0, none = 0;
  for (int i = 0; i < 400; ++i) {
    ChoiceProblem problem = random_problem(random);
    const double unlimited = choose(problem).cost;
    add_limits(problem, random);
    const auto [cost, options] = by_enumeration(problem);
    const Choice choice = choose(problem);
    EXPECT_EQ(choice.cost, cost) << "problem " << i;
    EXPECT_TRUE(choice.is_optimal());
    if (cost == kInfinite) {
      EXPECT_TRUE(choice.options.empty());
      ++none;
      continue;
    }
    EXPECT_EQ(choice.options, options) << "problem " << i;
    EXPECT_EQ(cost_of(problem, choice.options), choice.cost);
    changed += cost > unlimited ? 1 : 0;
  }
  EXPECT_GT(changed, 20);
  EXPECT_GT(none, 20);
}

// A network of the size of real ones, whose costs are not round numbers. No choice that differs in
// one or two nodes is cheaper.
TEST(Choice, IsProvenForLargeGraphs) {
  std::mt19937 random(4);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  ChoiceProblem problem;
  constexpr std::size_t kNodes = 400;
  for (std::size_t n = 0; n < kNodes; ++n) {
    const double convert = number(1, 4);
    problem.conversions.push_back({{0, convert}, {convert, 0}});
    auto& options = problem.nodes.emplace_back();
    for (const std::size_t storage : {0, 1}) {
      ChoiceOption& option = options.emplace_back();
      option.cost = number(5, 20);
      // Reads the previous node and, as a residual connection, an earlier node.
      if (n > 0) option.reads.push_back({n - 1, storage});
      if (n > 12) option.reads.push_back({n - 2 - n % 11, storage});
      option.writes = {{n, storage}};
    }
  }
  const Choice choice = choose(problem);
  EXPECT_TRUE(choice.is_optimal());
  EXPECT_NEAR(cost_of(problem, choice.options), choice.cost, 1e-9 * choice.cost);
  for (std::size_t a = 0; a < kNodes; ++a) {
    for (std::size_t b = a; b < std::min(a + 3, kNodes); ++b) {
      Options other = choice.options;
      other[a] ^= 1U;
      if (b != a) other[b] ^= 1U;
      EXPECT_GE(cost_of(problem, other), choice.cost * (1 - 1e-9));
    }
  }
}

// A search that keeps few partial choices may miss the best choice, but its lower bound holds.
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

// Two readers that want one storage share a conversion, so the writer may keep its own storage.
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
