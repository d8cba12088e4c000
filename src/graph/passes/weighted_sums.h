// Operators that compute sums of products with constant weights: convolutions, transposed ones,
// products of matrices.
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
  std::size_t weight = 0;           // the number of the input
  std::optional<std::size_t> bias;  // likewise: of one axis, with a number for each channel
  std::size_t channel_axis = 0;     // of the output
  std::int64_t channels = 0;
  std::vector<std::int64_t> channel_of;  // by element of the weights, row-major; -1: of none
};

// nullopt if the computation is not of this kind, or if it reads several elements of a bias.
// `is_constant` says of an input whether its values are known.
std::optional<WeightedSums> weighted_sums(const Computation& computation,
                                          const std::function<bool(std::size_t)>& is_constant);

// The computation of weighted sums without a bias, with one: a last input of one axis.
SharedComputation with_bias(const Computation& computation, const WeightedSums& sums);

}  // namespace texloom::graph
