#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Simplifies every expression under the ranges of the loops (ir/arith/simplify.h).
//
// Does: besides, drops loops of one iteration, guards that always hold and statements whose
// guard never does. Thread loops stay: they make the grid.
//
// Stands after flattening, which leaves divisions and remainders of loop variables.
//
// Before and after: stage Flattened.
//
//   for i < 1 { if i + j < 8 { Y[i * 4 + j] = ... } }, j < 4   ->   Y[j] = ...
void simplify_program(Lowering& lowering);

}  // namespace texloom::lower
