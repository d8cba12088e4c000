// The order into which moves bring elements, whatever the shapes are before and after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/passes/moves/move.h"

namespace texloom::graph {

// The number of an element in row-major order is a number of several digits, and a move permutes
// the digits. A view has one digit. No digit has the extent 1, and no two digits are neighbors both
// before and after the move, so that equal orders are equal values.
struct Order {
  std::vector<std::int64_t> extents;  // of the digits before the move
  std::vector<std::size_t> digits;    // of these, by their places after the move

  bool operator==(const Order&) const = default;
  bool keeps_all() const { return digits.size() <= 1; }
};

Order order_of(const Move& move);

// The order after two moves, one after the other. nullopt if no digits suit both, as after a
// transposition of [4, 6], which is viewed as [8, 3] and transposed again.
std::optional<Order> composed(const Order& first, const Order& second);

}  // namespace texloom::graph
