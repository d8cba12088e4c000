// Makes asynchronous copies at once.
#pragma once

#include "ir/stmt.h"

namespace texloom::lower {

// Purpose: makes copies where they begin, in languages whose threads wait for each load.
// Requires: stage loops, flattened or kernels.
// Ensures: the same stage; no AsyncCopies and no AwaitCopies is left. Barriers stay: other threads
//   see the copies after them as before.
// Order: before split_lanes, which splits plain stores.
// Example:
//   async_copies { S[t] = A[t] }            S[t] = A[t]
//   await_copies pending=0            ->    barrier
//   barrier
ir::Stmt copy_at_once(const ir::Stmt& body);

}  // namespace texloom::lower
