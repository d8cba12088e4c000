// Chooses one option for each node of a graph so that the total cost is least, conversions between
// the storages of tensors included. Knows nothing of kernels: nodes, tensors and storages are
// numbers.
//
// If nodes need a tensor in another storage, the tensor is converted once for all of these nodes.
// So the best option of a node depends on all other nodes.
//
// The search goes through the nodes in order. After each node, two partial choices that agree on
// the tensors still to be read differ only in their cost so far, so only the cheaper one is kept. A
// choice is also dropped if another choice stays cheaper even with conversions to all storages that
// only the dropped choice has. The search is exact unless there are too many partial choices; then
// the most expensive are dropped, and the result gives a lower bound of the best cost.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace texloom::graph {

// The cost of a choice that is not possible.
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// A tensor, and one of its storages.
struct StoredTensor {
  std::size_t tensor = 0;
  std::size_t storage = 0;

  auto operator<=>(const StoredTensor&) const = default;
};

struct ChoiceOption {
  double cost = 0;                  // not negative
  std::vector<StoredTensor> reads;  // what the option reads; earlier nodes write it
  // All options of a node write the same tensors. An option may write a tensor in several storages.
  std::vector<StoredTensor> writes;
};

// A limit for the use of a resource, such as bytes of memory or texels of images, by the tensors
// that are live at a node. A tensor in a storage is live at a node if the node reads or writes it,
// if it is converted for the node, or if it exists and a later node reads or converts it.
struct ChoiceLimit {
  double most = 0;
  std::vector<std::vector<double>> uses;  // indexed by tensor and storage; not negative
};

struct ChoiceProblem {
  // The cost of converting a tensor from one of its storages (the first index) to another; zero
  // from a storage to itself. The source of a conversion is the cheapest storage among those in
  // which the tensor was written.
  std::vector<std::vector<std::vector<double>>> conversions;  // indexed by tensor
  std::vector<std::vector<ChoiceOption>> nodes;               // in an order in which they can run
  std::vector<ChoiceLimit> limits = {};
};

struct Choice {
  std::vector<std::size_t> options;  // one for each node; empty if no choice is within the limits
  double cost = 0;                   // infinite without options
  double lower_bound = 0;  // no choice costs less; equal to the cost if the choice is optimal

  bool is_optimal() const { return lower_bound >= cost; }
};

// The number of partial choices that are kept after each node.
inline constexpr std::size_t kMaxPartialChoices = std::size_t{1} << 14;

// The largest number of storages of a tensor: a state of the search has a bit for each.
inline constexpr std::size_t kMaxStorages = 32;

// Requires that each node has an option, and each tensor one writer and at most kMaxStorages
// storages. Of choices with equal cost, returns the one whose option has the smaller number at the
// first node where the choices differ.
Choice choose(const ChoiceProblem& problem, std::size_t max_partial = kMaxPartialChoices);

// The cost of a choice, conversions included; infinite if it exceeds a limit.
double cost_of(const ChoiceProblem& problem, const std::vector<std::size_t>& options);

// The storage that is converted to `wanted`: the cheapest one in the set `written`, which has a bit
// for each storage; among equal costs, the first.
std::size_t source_of(const std::vector<std::vector<double>>& conversions, std::uint32_t written,
                      std::size_t wanted);

}  // namespace texloom::graph
