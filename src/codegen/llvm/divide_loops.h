// Divides loops where conditions on their variables change.
#pragma once

#include "ir/stmt.h"

namespace texloom::codegen::native {

// Purpose: divides a loop of known length into loops for which each condition on its variable alone
//   is known. So tiles inside of a tensor have no tests for its end, pixels inside of a picture
//   none for its border, and the parts of a concatenation are copied without a test for each
//   element.
// Requires: stage kernels.
// Ensures: stage kernels. A loop stays if it would become more than kMostParts loops, or much code.
// Order: after hoist_guards, which leaves conditions that a loop changes; before
//   run_threads_in_loops, since serial loops of a thread have numbers as extents.
// Example:
//   for i < 9 {                                     for i < 4 { Y[i] = A[i] }
//     Y[i] = select(i < 4, A[i], B[i - 4])    ->    for i < 5 { Y[i + 4] = B[i + 4 - 4] }
//   }
ir::Stmt divide_loops(const ir::Stmt& body);

}  // namespace texloom::codegen::native
