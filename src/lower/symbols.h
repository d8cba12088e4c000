// The symbols of a program, and whether a call gives them values.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// All variables in the extents of tensors and of reductions, in order of appearance: what arguments
// tell comes first.
ir::Exprs symbols_of(const Lowering& lowering);

// Fails with BadShape where a symbol is neither an argument itself nor follows from the extents of
// arguments: of `n`, `8 * n` and `n + m`, when m is known, the shape of an array gives n; of
// `n // 4` it does not.
void check_symbols(const Lowering& lowering);

// Fails with BadComputeBody where the expression of a compute uses a variable that is none of its
// axes, no symbol of extents and no argument. Before stages are inlined, which mixes their axes.
void check_scalars(const Lowering& lowering);

// The type in which kernels get a symbol of this one: wide enough to keep its values, and one that
// kernels take.
ir::Type passed_as(ir::Type type);

// What it does: where kernels take no symbols of a type, such as float16, they get them in a wider
// one, and convert them back. Before: loops. After: all symbols are of types that kernels take.
void widen_symbols(Lowering& lowering);

}  // namespace texloom::lower
