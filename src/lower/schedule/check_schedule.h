#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: refuses schedules that are wrong as a whole.
//   Checks the arguments (check_arguments.h) and, for each stage, the storage of its result
//   (check_storage.h), its computation (check_operation.h) and its loops (check_loops.h). Reports
//   all errors together, except for symbols without a value, which follow from other errors.
// Requires: stage te, prepared by the steps of prepare_schedule.
// Ensures: the same schedule, which build_nests can lower.
// Order: after prepare_schedule, so that declared scopes are known and inlined expressions are in
//   their readers; before bound inference, whose errors would be harder to understand.
// Example:
//   param A
//   compute B(i < 8): float32 = A[i] + 1.0    ->    error[TL3010]: B is not an argument
//     output
void check_schedule(Lowering& lowering);

}  // namespace texloom::lower
