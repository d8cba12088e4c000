// How the elements of a node's outputs depend on the elements of its inputs, found by analyzing the
// node's computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

// Ordered from patterns that are easy to compute inside another kernel to patterns that are not.
// The comments complete the sentence "an element of the output depends ...".
enum class Pattern : std::uint8_t {
  Elementwise,  // on the elements of the inputs at its own indices
  Broadcast,    // on elements at a subsequence of its indices, or at 0 along extents of 1
  Injective,    // on one element of an input, or is a fixed value: pad, transpose, slice
  Reduction,    // on several elements: sums, pooling, softmax
  Contraction,  // on sums of products of elements of two inputs: convolutions, products of matrices
  Opaque,       // unknown
};
std::string_view to_string(Pattern pattern);               // "elementwise"
std::optional<Pattern> pattern_of(std::string_view word);  // the inverse

// Opaque for computations of several outputs, and for operations without an expression.
Pattern pattern_of(const Computation& computation);

// Whether each element of the output is an element of an input or a fixed value, and no tested
// element decides which: also copies, broadcasts, and the first part of a tensor, whose elements
// are at their own indices.
bool only_moves(const Computation& computation);

// For a computation that reduces the last axis of an input, element by element, and keeps the axis
// with the extent 1: the number of that input. What is computed before and after is element-wise.
std::optional<std::size_t> input_of_rows(const Computation& computation);

// Whether an element takes a few operations: no functions, sums, or divisions of floats.
bool is_light(const Computation& computation);

// The numbers of the floating-point inputs whose elements are used to compute indices.
std::vector<std::size_t> inputs_in_indices(const Computation& computation);

}  // namespace texloom::graph
