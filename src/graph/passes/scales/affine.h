// Operators that scale and shift: a * x + b, with numbers a and b for each channel of x.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace texloom::graph {

struct Affine {
  double factor = 1, shift = 0;
};

// The affine functions by which an operator with one output computes the output from its input
// number `input`: one function for each index along an axis of the output. The other inputs must be
// constants, or computed from constants only. All numbers are evaluated in float64, without
// rounding to the types of tensors.
//
// nullopt if the operator computes any other function, if the output has another shape than the
// input, if it reads the input at other indices than
// the output's, if the numbers depend on another axis, or if tensors are neither float32 nor
// float64.
std::optional<std::vector<Affine>> affine_along(const Graph& graph, const Producers& producers,
                                                const Node& node, std::size_t input,
                                                std::size_t axis);

}  // namespace texloom::graph
