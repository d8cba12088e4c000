#pragma once

#include "ir/arith/ranges.h"
#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: simplifies every expression (ir/arith/simplify.h) by what is known where it stands: the
//   ranges of the loops around it, the values of Lets, and the guards that hold there.
//   Also drops loops of one iteration or none, guards that always hold, and statements whose guard
//   never holds. Thread loops stay, because they make the grid.
// Requires: stage flattened.
// Ensures: stage flattened.
// Order: after flatten_storage, which leaves divisions and remainders of loop variables.
// Example:
//   for i < 1 { if i + j < 8 { Y[i * 4 + j] = ... } }, j < 4   ->   Y[j] = ...
void simplify_program(Lowering& lowering);

// The same for one statement, outside of which this is known.
ir::Stmt simplified(const ir::Stmt& s, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
