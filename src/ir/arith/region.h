// Symbolic ranges: the values of an index while some variables run and others are fixed.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/arith/ranges.h"
#include "ir/expr.h"

namespace texloom::ir::arith {

// From min to max, both included: expressions over the fixed variables.
struct Region {
  Expr min, max;
};

using RegionMap = std::unordered_map<Expr, Region, RefHash, RefSame>;

// The region of `e` while each variable of `running` takes all values of its region. nullopt if no
// bound is known, as for an index that is read from memory.
std::optional<Region> region_of(const Expr& e, const RegionMap& running, const Ranges& ranges);

// The smallest region that contains both.
Region join(const Region& a, const Region& b, const Ranges& ranges);

}  // namespace texloom::ir::arith
