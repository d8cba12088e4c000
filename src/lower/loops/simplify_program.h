#pragma once

#include "ir/arith/ranges.h"
#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: simplifies every expression (ir/arith/simplify.h) with the facts known at that point:
//   the ranges of the enclosing loops, the values of Lets, and the guards that hold.
//   Also drops loops of one iteration or none, guards that always hold, and statements whose guard
//   never holds. Shortens a loop to the iterations for which the guard around its whole body holds.
//   Keeps thread loops, because they define the grid.
// Requires: stage flattened.
// Ensures: stage flattened.
// Order: after flatten_storage, which leaves divisions and remainders of loop variables.
// Example:
//   for i < 1 { if i + j < 8 { Y[i * 4 + j] = ... } }   ->   Y[j] = ...     where j < 4
void simplify_program(Lowering& lowering);

// Simplifies one statement; `ranges` are the ranges of the variables defined outside the statement.
ir::Stmt simplified(const ir::Stmt& s, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
