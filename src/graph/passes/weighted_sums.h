// Operators that compute sums of products with constant weights: convolutions, transposed
// convolutions, products of matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

// A computation whose output is linear in one of its inputs, the weights: each output element
// is a sum of products with weights of its own channel, plus the bias of that channel.
struct WeightedSums {
  std::size_t weight = 0;           // the number of the input with the weights
  std::optional<std::size_t> bias;  // the number of the input with a value for each channel
  std::size_t channel_axis = 0;     // the axis of channels in the output
  std::int64_t channels = 0;
  std::vector<std::int64_t> channel_of;  // for each element of the weights, row-major; -1: none
};

// nullopt if the computation is not of this kind, or if it reads several elements of a bias.
// `is_constant` returns, for the number of an input, whether the values of the input are known.
std::optional<WeightedSums> weighted_sums(const Computation& computation,
                                          const std::function<bool(std::size_t)>& is_constant);

// Adds a bias to weighted sums that have none: a new last input with a value for each channel.
SharedComputation with_bias(const Computation& computation, const WeightedSums& sums);

}  // namespace texloom::graph
