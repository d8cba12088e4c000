// Chooses one option for each node of a graph so that the total cost is least, conversions between
// the storages of tensors included. Knows nothing of kernels: nodes, tensors and storages are
// numbers.
//
// A tensor that is stored in one way and wanted in another is converted once, for all nodes that
// want it so. That is why the best option of a node depends on all others.
//
// The search goes through the nodes in order. After each node, two partial choices that agree on
// the tensors still to be read differ only in what they cost so far, so only the cheaper one is
// kept. What remains is exact unless there are too many partial choices; then the most expensive
// are dropped, and the result says by how much it may miss the best.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace texloom::graph {

// A tensor, and one of its storages.
struct StoredTensor {
  std::size_t tensor = 0;
  std::size_t storage = 0;

  auto operator<=>(const StoredTensor&) const = default;
};

struct ChoiceOption {
  double cost = 0;                   // not negative
  std::vector<StoredTensor> reads;   // of tensors that an earlier node writes
  std::vector<StoredTensor> writes;  // equal tensors in all options of a node
};

struct ChoiceProblem {
  // The cost of converting a tensor from one of its storages (the first index) to another; zero
  // from a storage to itself.
  std::vector<std::vector<std::vector<double>>> conversions;  // by tensor
  std::vector<std::vector<ChoiceOption>> nodes;               // in an order in which they can run
};

struct Choice {
  std::vector<std::size_t> options;  // by node
  double cost = 0;
  double lower_bound = 0;  // no choice costs less; equal to the cost if the choice is optimal

  bool is_optimal() const { return lower_bound >= cost; }
};

// The partial choices that are kept after each node.
inline constexpr std::size_t kMaxPartialChoices = std::size_t{1} << 14;

// The storages of a tensor: a state of the search has a bit for each.
inline constexpr std::size_t kMaxStorages = 32;

// Each node has an option, a tensor has one writer, and at most kMaxStorages storages. Of choices
// with equal cost, the one whose options have the smaller numbers in the first node where they
// differ.
Choice choose(const ChoiceProblem& problem, std::size_t max_partial = kMaxPartialChoices);

// What a choice costs, conversions included.
double cost_of(const ChoiceProblem& problem, const std::vector<std::size_t>& options);

}  // namespace texloom::graph
