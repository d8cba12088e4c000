// The functions by which target-dependent passes ask the scheduler which kernels it can make.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "graph/computation.h"
#include "ir/layout/digits.h"

namespace texloom::graph {

// An empty function means that there are no such kernels. A computation that is passed is null if
// the graph was read from text without it.
struct KernelLibrary {
  // Whether one kernel can compute two operators, and is estimated to be faster than two kernels.
  // `input`: the number of the second operator's input that the first operator computes.
  std::function<bool(const SharedComputation& first, const SharedComputation& second,
                     std::size_t input)>
      is_faster_joined = {};
  // Whether images of convolutions have channels last, so that channels are never contiguous.
  bool has_channels_last = false;
  // Whether kernels for attention read operands that are moved, and write moved outputs.
  bool moves_operands = false;
  // The product of matrices that share the right factor, [..., M, K] and [K, N], as a product of
  // one matrix that has all rows; nullopt for another computation, or if its kernels would be no
  // faster.
  std::function<std::optional<SharedComputation>(const SharedComputation& computation)>
      product_of_rows = {};
  // A computation that normalizes the rows of its first input, as a computation of a tensor of this
  // shape of which that input is a view; nullopt if it is another computation, or if its kernels
  // would be no faster.
  std::function<std::optional<SharedComputation>(const SharedComputation& computation,
                                                 const ir::Shape& shape)>
      normalization_before = {};
  // A normalization of groups of channels with the moments of parts of the groups; nullopt if it is
  // another computation, or if its kernels would be no faster.
  std::function<std::optional<SharedComputation>(const SharedComputation& computation)>
      moments_in_parts = {};
  // The computation of one kernel for attention, given the types in which its inputs are stored;
  // nullopt if these operators are not attention, or if the target has no such kernel.
  std::function<std::optional<SharedComputation>(const AttentionParts& parts,
                                                 const std::vector<ir::Type>& stored)>
      attention = {};
};

}  // namespace texloom::graph
