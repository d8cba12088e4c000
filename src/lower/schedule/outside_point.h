// Finds a point of a compute at which a read is outside of its tensor, where intervals cannot tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::lower {

// A condition on the way to a read, and the branch that contains the read.
struct PathCondition {
  ir::Expr condition;
  bool holds = true;
};

struct OutsidePoint {
  int64_t index = 0;
  std::string axes;  // "i = 4, j = 0"
};

// Tries up to 512 points of the box that `ranges` gives: all of them if there are no more,
// otherwise its corners, and inner points along the axes with the fewest values. At the point that
// it returns, the conditions lead to the read, and `index` is not one of 0 to extent - 1. nullopt
// if it finds none, or if the index or a condition is not known at compile time.
std::optional<OutsidePoint> find_outside_point(const ir::Expr& index, int64_t extent,
                                               const std::vector<PathCondition>& path,
                                               const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
