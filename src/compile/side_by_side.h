// Runs independent work on all processors.
#pragma once

#include <cstddef>

#include "compile/compile.h"
#include "support/function_ref.h"

namespace texloom::compile {

// Calls `work` once for each number below `count`, on as many threads as there are processors, and
// returns when all calls have returned. The calling thread works, too.
//
// `work` calls the function that it is given from time to time. On the calling thread this is
// `interruption`, which is also called while the calling thread waits for others; on other threads
// it ends the work after another thread's work has failed. The first exception that `work` throws
// is thrown again once all threads have ended; numbers that no thread has begun by then are left
// out.
void run_side_by_side(std::size_t count,
                      FunctionRef<void(std::size_t number, Interruption interruption)> work,
                      Interruption interruption);

}  // namespace texloom::compile
