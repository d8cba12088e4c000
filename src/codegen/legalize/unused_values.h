// Drops values and arrays that nothing uses.
#pragma once

#include "ir/program.h"

namespace texloom::codegen {

// Purpose: drops each Let whose variable nothing reads, Lets that only dropped Lets read, and
//   arrays that nothing accesses. Device compilers warn of such variables.
// Requires: stage legalized.
// Ensures: stage legalized.
// Order: near the end, since building a node folds constants, and a folded node may have been the
//   only user.
// Example:
//   let t = texture2d.load(T, x=0, y=0)    ->    Y[i] = 0.0
//   Y[i] = 0.0
ir::Stmt drop_unused_values(const ir::Stmt& body);

}  // namespace texloom::codegen
