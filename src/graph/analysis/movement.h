// Computations that only move elements in memory, or leave them in place.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

// The front end marks computations that only move elements by these tags. Only tagged computations
// are examined, but tags are not trusted, since scripts may write any tag.
inline constexpr std::string_view kViewTag = "view";      // texloom/ops/movement/reshaping.py
inline constexpr std::string_view kJoinedTag = "joined";  // texloom/ops/movement/joining.py

// Whether the output has all elements of the only input, in the same row-major order. If symbols
// decide whether the numbers of elements are equal, equality is assumed: ops.movement.reshape makes
// equality a condition of the run, and a script that writes the tag itself must guarantee equality.
bool is_view(const Computation& computation);

// The axis along which the output holds the inputs, one after another. nullopt if there is none, or
// if extents are not numbers: a tensor of unknown size cannot get a fixed place in memory.
std::optional<std::size_t> joined_axis(const Computation& computation);

// Whether an expression over the axes of `op` reads a tensor at these axes, of which the first may
// be missing; axes of extent 1 are broadcast.
bool reads_own_indices(const schedule::Operation& op, const ir::TensorRead& read);

// For a computation that only permutes the axes of its only input: the axis of the input that each
// axis of the output is.
std::optional<std::vector<std::size_t>> permuted_axes(const Computation& computation);

// Whether such a permutation moves the channels of images, [N, C, ...], to the end.
bool moves_channels_last(const std::vector<std::size_t>& axes);
// The inverse of a permutation.
std::vector<std::size_t> inverse(const std::vector<std::size_t>& axes);

}  // namespace texloom::graph
