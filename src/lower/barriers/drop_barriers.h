// Drops barriers that separate nothing.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: drops barriers that separate nothing: they cost time, and PoCL 3.1 aborts on some
//   barriers in nested loops. An access is relevant if it is to memory that threads share and the
//   kernel writes. A barrier is dropped if, on every path through the kernel, another barrier
//   precedes or follows it without a relevant access in between. A barrier is also dropped if no
//   relevant access precedes it, or none follows it. So a kernel with blocks of one thread has no
//   barriers.
// Requires: stage kernels.
// Ensures: stage kernels; the remaining barriers separate the same accesses.
// Order: after place_barriers, which looks at one conflict at a time.
// Example:
//   T[x] = ...                        T[x] = ...
//   barrier                    ->     for i < 4 {
//   for i < 4 {                         barrier
//     barrier                           ... T[...] ...
//     ... T[...] ...                  }
//   }
void drop_barriers(Lowering& lowering);

// Returns the kernel's body without the barriers that separate nothing.
ir::Stmt drop_barriers(const ir::Kernel& kernel);

}  // namespace texloom::lower
