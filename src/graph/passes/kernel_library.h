// The functions by which target-dependent passes ask the scheduler which kernels it can make.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

// Operators that may be attention: softmax(scale * (query * key) + mask) * value, whose scale and
// mask are already known.
struct AttentionParts {
  // The scores, their softmax, and the softmax's product with the values. The output of each
  // computation is the first input of the next.
  SharedComputation scores, weights, product;
  std::vector<ir::Tensor> inputs;  // placeholders: query, key, value, and the mask if there is one
  double scale = 1;
};

// An empty function means that there are no such kernels. A computation that is passed is null if
// the graph was read from text without it.
struct KernelLibrary {
  // Whether one kernel can compute two operators, and is estimated to be faster than two kernels.
  // `input`: the number of the second operator's input that the first operator computes.
  std::function<bool(const SharedComputation& first, const SharedComputation& second,
                     std::size_t input)>
      is_faster_joined = {};
  // The computation of one kernel for attention; nullopt if these operators are not attention, or
  // if the target has no such kernel.
  std::function<std::optional<SharedComputation>(const AttentionParts& parts)> attention = {};
};

}  // namespace texloom::graph
