// Finds the symbols of a program and checks that a call determines their values.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// All variables in the extents of tensors and of reductions, in order of appearance. The variables
// in the extents of arguments come first.
ir::Exprs symbols_of(const Lowering& lowering);

// Fails with BadShape if a symbol is neither an argument nor determined by the extents of
// arguments. If a call passes arrays of the extents `n`, `8 * n` and `n + m`, the shapes determine
// n, and then m; an extent `n // 4` does not determine n.
void check_symbols(const Lowering& lowering);

// Purpose: refuses expressions that use an undefined variable.
// Requires: stage te.
// Ensures: the same schedule. Each variable in the expression of a compute is one of its axes, a
//   symbol of an extent, or an argument. Fails with BadComputeBody, or with BadExtern for an
//   extern.
// Order: before inline_stages, which mixes the axes of several stages.
// Example:
//   compute B(i < 8): float32 = A[i] + s    ->    error[TL1007], unless s is an argument
void check_scalars(Lowering& lowering);

}  // namespace texloom::lower
