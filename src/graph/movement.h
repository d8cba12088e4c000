// Computations that only move elements in memory, or not even that.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "graph/computation.h"

namespace texloom::graph {

// The front end marks such computations by these tags; only tagged computations are examined. They
// are checked all the same, as scripts may write any tag.
inline constexpr std::string_view kViewTag = "view";      // texloom/ops/movement/reshaping.py
inline constexpr std::string_view kJoinedTag = "joined";  // texloom/ops/movement/joining.py

// Whether the output has all elements of its only input in the same row-major order, as far as
// their numbers are known from the extents. Where symbols decide, ops.movement.reshape makes equal
// numbers a condition of the run, and a script that writes the tag itself answers for them.
bool is_view(const Computation& computation);

// The axis along which the output holds the inputs, one after another. nullopt if it does not, or
// if extents are not numbers: a tensor of unknown size has no place in memory.
std::optional<std::size_t> joined_axis(const Computation& computation);

}  // namespace texloom::graph
