// One definition for each variable and each array of a thread.
#pragma once

#include "ir/stmt.h"

namespace texloom::lower {

// What it does: where a loop, a Let or an Allocate defines what was defined elsewhere already (in a
// copy of an unrolled body, say), gives it a variable or buffer of its own.
// Why here: wherever a pass moves expressions out of the place they stand in, or remembers them
// by the variables they use; also, C declares each name once. A part of those passes, not a pass.
// Before: a definition is not repeated inside its own scope, but may be beside it. After: it is
// not repeated at all; shared buffers excepted, which are one array in all places.
//
//     for i < 4 { a[i] = 0 }          for i < 4 { a[i] = 0 }
//     for i < 4 { b[i] = 0 }    ->    for i.1 < 4 { b[i.1] = 0 }     where i.1 is a new variable
ir::Stmt unique_definitions(const ir::Stmt& body);

}  // namespace texloom::lower
