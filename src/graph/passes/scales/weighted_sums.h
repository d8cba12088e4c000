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

// The channel of each weight. Weights that differ only along other axes than those that a channel
// depends on have one channel, which is stored once: weights may have 10^8 elements.
struct WeightChannels {
  std::vector<std::int64_t> shape;     // of the weights
  std::vector<std::int64_t> strides;   // in `channels`, for each axis; 0: the channel is the same
  std::vector<std::int64_t> channels;  // -1: none

  // Calls `see(weight, channel)` for the number of each weight, row-major.
  template <class See>
  void for_each(const See& see) const {
    visit(0, 0, 0, see);
  }

 private:
  template <class See>
  std::size_t visit(std::size_t axis, std::size_t weight, std::int64_t place,
                    const See& see) const {
    if (axis == shape.size()) {
      see(weight, channels[static_cast<std::size_t>(place)]);
      return weight + 1;
    }
    for (std::int64_t i = 0; i < shape[axis]; ++i)
      weight = visit(axis + 1, weight, place + i * strides[axis], see);
    return weight;
  }
};

// A computation whose output is linear in one of its inputs, the weights: each output element
// is a sum of products with weights of its own channel, plus the bias of that channel.
struct WeightedSums {
  std::size_t weight = 0;           // the number of the input with the weights
  std::optional<std::size_t> bias;  // the number of the input with a value for each channel
  std::size_t channel_axis = 0;     // the axis of channels in the output
  std::int64_t channels = 0;
  WeightChannels channel_of;
};

// nullopt if the computation is not of this kind, or if it reads several elements of a bias.
// `is_constant` returns, for the number of an input, whether the values of the input are known.
std::optional<WeightedSums> weighted_sums(const Computation& computation,
                                          const std::function<bool(std::size_t)>& is_constant);

// Adds a bias to weighted sums that have none: a new last input with a value for each channel.
SharedComputation with_bias(const Computation& computation, const WeightedSums& sums);

}  // namespace texloom::graph
