// Extents that contain symbols: variables that get their values from each call (program.h).
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::ir {

// Whether the expression can be an extent: int32 sums, differences, products, floor divisions and
// remainders, minima and maxima of constants, symbols and variables of enclosing loops.
bool is_extent(const Expr& e);

// These functions return, for a texture: the extent of a digit (layout/digits.h) of its layout, the
// number of its rows, the number of its columns, and the extent of an axis. The extent of the
// layout's lane_axis() is rounded up to whole texels. Each result is a constant or an expression of
// symbols.
Expr extent_of(const BufferNode& texture, const LayoutPart& part);
Expr row_count(const BufferNode& texture);
Expr col_count(const BufferNode& texture);
Expr extent_with_lanes(const BufferNode& texture, size_t axis);

// The ranges of the symbols in these extents of arrays. Every extent of an array is 0 or more;
// `least` is 1 if the question is about elements of all arrays, so that there are some.
arith::Ranges ranges_of_symbols(const Exprs& extents, int64_t least = 0);
arith::Ranges ranges_of_symbols(const std::vector<Buffer>& params);
// The ranges of a kernel's scalar parameters: symbols and variables of the plan's loops.
arith::Ranges ranges_of_params(const Kernel& kernel);

}  // namespace texloom::ir
