#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: puts adjacent statements with equal guards under one guard.
//   Copies of an unrolled loop leave a guard around each statement. With one guard, devices branch
//   once, and share_texels sees all reads together.
// Requires: stage kernels.
// Ensures: stage kernels. Guards that read memory are not joined, since the statements under them
//   may change that memory.
// Order: after insert_barriers, whose barriers separate statements, because a guard that differs
//   between threads must not enclose a barrier; after partition_loops, which drops guards.
// Example:
//   if i < n { Y[i] = 1.0 } if i < n { Z[i] = 2.0 }   ->   if i < n { Y[i] = 1.0 Z[i] = 2.0 }
void join_guards(Lowering& lowering);

}  // namespace texloom::lower
