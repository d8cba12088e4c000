#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Refuses what is wrong with the schedule as a whole.
//
// Does: checks the arguments (check_arguments.h), and of each stage where its result lies
// (check_storage.h), what it computes (check_operation.h) and its loops (check_loops.h). All that
// is wrong is reported together, but for symbols without a value, which follow from the rest.
//
// Stands before bound inference, whose errors would be harder to understand, and after
// prepare_schedule, so that it sees declared scopes, and of inlined stages, which are still part of
// the schedule, readers that hold their expressions.
//
// Before: a prepared schedule. After: the same schedule; build_loops can lower it.
void check_schedule(Lowering& lowering);

}  // namespace texloom::lower
