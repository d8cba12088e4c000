#pragma once

#include "ir/arith/ranges.h"
#include "lower/lowering.h"

namespace texloom::lower {

// Simplifies every expression (ir/arith/simplify.h) under what is known where it stands: the
// ranges of the loops around it, the values of Lets, the guards that hold there.
//
// Does: besides, drops loops of one iteration or none, guards that always hold and statements whose
// guard never does. Thread loops stay: they make the grid.
//
// Stands after flattening, which leaves divisions and remainders of loop variables.
//
// Before and after: stage Flattened.
//
//   for i < 1 { if i + j < 8 { Y[i * 4 + j] = ... } }, j < 4   ->   Y[j] = ...
void simplify_program(Lowering& lowering);

// The same for one statement, outside of which this is known.
ir::Stmt simplified(const ir::Stmt& s, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
