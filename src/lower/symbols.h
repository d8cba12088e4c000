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

}  // namespace texloom::lower
