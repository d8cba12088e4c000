// Extents that contain symbols: variables that get their values from each call (program.h).
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::ir {

// Whether it can be an extent: int32 sums, differences, products, floor divisions and remainders,
// minima and maxima of constants, symbols and variables of enclosing loops.
bool is_extent(const Expr& e);

// The ranges of the symbols in these extents of arrays, each of which is at least 1.
arith::Ranges ranges_of_symbols(const Exprs& extents);
arith::Ranges ranges_of_symbols(const std::vector<Buffer>& params);
// The ranges of a kernel's scalar parameters: symbols and variables of the plan's loops.
arith::Ranges ranges_of_params(const Kernel& kernel);

}  // namespace texloom::ir
