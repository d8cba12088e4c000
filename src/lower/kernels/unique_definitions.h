// Gives each variable and each private array a single definition.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: gives each loop, Let and Allocate a new variable or buffer if its variable or buffer is
//   defined elsewhere, too, for example in a copy of an unrolled body.
// Requires: stage kernels. A definition may be repeated outside its own scope, but not inside.
// Ensures: stage kernels. No definition is repeated, except definitions of a shared buffer, which
//   is one array in all places.
// Order: before passes that move expressions or identify them by the variables they use; and before
//   printing, since C declares each name once.
// Example:
//   for i < 4 { a[i] = 0 }          for i < 4 { a[i] = 0 }
//   for i < 4 { b[i] = 0 }    ->    for i.1 < 4 { b[i.1] = 0 }     where i.1 is a new variable
void unique_definitions(Lowering& lowering);

// Makes the definitions in the body of one kernel unique.
ir::Stmt unique_definitions(const ir::Stmt& body);

}  // namespace texloom::lower
