// Barriers that separate nothing.
#pragma once

#include "ir/program.h"

namespace texloom::lower {

// Drops those of a kernel's barriers before which, or behind which, there is another one on every
// way through the kernel with no access between of memory that threads have in common and the
// kernel writes; also those with no such access at all before or behind them, as all of a kernel
// whose blocks are one thread. What is left separates the same accesses. Two barriers in a row cost
// time, and PoCL 3.1 aborts on some in nested loops.
//
//     T[x] = ...                        T[x] = ...
//     barrier                    ->     for i < 4 {
//     for i < 4 {                         barrier
//       barrier                           ... T[...] ...
//       ... T[...] ...                  }
//     }
ir::Stmt drop_barriers(const ir::Kernel& kernel);

}  // namespace texloom::lower
