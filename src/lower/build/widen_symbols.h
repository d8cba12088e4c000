// Passes symbols in types that kernels accept.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// The type in which kernels receive a symbol of this type: kernels accept it, and it represents all
// the symbol's values.
ir::Type passed_as(ir::Type type);

// Purpose: passes symbols of types that kernels do not accept, such as float16, in a wider type.
// Requires: stage loops.
// Ensures: stage loops. Kernels accept the types of all symbols; the body converts their values
//   back.
// Order: after build_nests, which finds the symbols of the program.
// Example:
//   symbol s: float16                  symbol s: float32
//   ...                          ->    ...
//   B[i] = A[i] * s                    B[i] = A[i] * float16(s)
void widen_symbols(Lowering& lowering);

}  // namespace texloom::lower
