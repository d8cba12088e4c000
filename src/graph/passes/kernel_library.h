// Questions of target-dependent passes to the scheduler, which makes the kernels afterwards.
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
  // The scores, their softmax, and its product with the values: the one before is the first input
  // of the next.
  SharedComputation scores, weights, product;
  std::vector<ir::Tensor> inputs;  // placeholders: query, key, value, and the mask if there is one
  double scale = 1;
};

// Without a function, there are no such kernels. A computation that is asked about is null if the
// graph, read from text, does not have it.
struct KernelLibrary {
  // Whether one kernel can compute two operators, and is estimated to be faster than one for each.
  // `input`: the number of the second's input that the first computes.
  std::function<bool(const SharedComputation& first, const SharedComputation& second,
                     std::size_t input)>
      is_faster_joined = {};
  // The computation of one kernel for attention; nullopt if these operators are not attention, or
  // if the target has no such kernel.
  std::function<std::optional<SharedComputation>(const AttentionParts& parts)> attention = {};
};

}  // namespace texloom::graph
