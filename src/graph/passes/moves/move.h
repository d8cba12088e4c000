// Moves: operators whose output has the elements of their input in another shape, or with its axes
// in another order.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace texloom::graph {

// Axes before and after a move that have the same elements in the same order.
struct Run {
  std::vector<std::size_t> before, after;

  bool operator==(const Run&) const = default;
};

struct Move {
  ir::Shape before, after;
  std::vector<Run> runs;  // in the order of the axes after the move
  bool is_view = false;
  bool moves_channels = false;  // of images, to the end or back

  Move inverse() const;
  // Two views are equal if their shapes are.
  bool operator==(const Move& other) const;

  // Whether the axes of more than one element keep their order.
  bool keeps_order() const;
  // The shape before the move of a tensor that is broadcast to the shape after it. nullopt if the
  // tensor has some of the axes of a run, and is broadcast along others.
  std::optional<ir::Shape> shape_before(const ir::Shape& shape) const;
};

// The permutation of the axes of a shape; `axes`: the axis before it of each axis after it.
Move permutation_of(const ir::Shape& before, const std::vector<std::size_t>& axes);

// nullopt if the node is no move, or if extents are not numbers.
std::optional<Move> move_of(const Graph& graph, const Node& node);

// The computation of a view: the elements in another shape.
SharedComputation reshaped(const ir::Shape& from, const ir::Shape& to, ir::Type type);

// The computation that undoes a permutation: of a tensor of the shape `from` after the move, the
// tensor of the shape `to` before it. The shapes differ from the move's where a tensor is
// broadcast.
SharedComputation permuted_back(const Move& permutation, const ir::Shape& from, const ir::Shape& to,
                                ir::Type type);

// An element-wise computation, before a move instead of after it. Null if the computation is not
// element-wise, or reads tensors that cannot be moved.
SharedComputation moved_before(const Move& move, const Computation& computation);

}  // namespace texloom::graph
