// The symbols of a program, and whether a call gives them values.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// All variables in the extents of tensors and of reductions, in order of appearance: those that the
// arguments tell come first.
ir::Exprs symbols_of(const Lowering& lowering);

// Fails with BadShape where a symbol is neither an argument itself nor follows from the extents of
// arguments. If a call passes arrays of the extents `n`, `8 * n` and `n + m`, the shapes tell n,
// and m once n is known; an extent `n // 4` does not tell n.
void check_symbols(const Lowering& lowering);

// Purpose: refuses expressions that use a variable which nothing defines.
// Requires: stage te.
// Ensures: the same schedule. Each variable in the expression of a compute is one of its axes, a
//   symbol of an extent, or an argument. Fails with BadComputeBody, for an extern with BadExtern.
// Order: before inline_stages, which mixes the axes of several stages.
// Example:
//   compute B(i < 8): float32 = A[i] + s    ->    error[TL1007], unless s is an argument
void check_scalars(Lowering& lowering);

}  // namespace texloom::lower
