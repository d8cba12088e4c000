// Divides a tree of loops into kernels.
#pragma once

#include "ir/stmt.h"
#include "ir/visit.h"

namespace texloom::schedule {

// Replaces each part of the statement that becomes one kernel by `make` of the part. The launch
// plan runs the statements around the parts: sequences, allocations of memory that all kernels see,
// and loops, whose iterations it launches one after another.
//
// A loop belongs to the plan if it is serial or unrolled (a plan runs both kinds in the same way),
// if its extent is arithmetic of constants, symbols and variables of such loops, and if each future
// kernel in it has threads. A loop belongs to a kernel if its iterations share memory of a block or
// a thread, or fill a pipelined buffer ahead.
ir::Stmt divided_into_kernels(const ir::Stmt& s, ir::StmtMap make);

// Whether each part that would become a kernel has threads.
bool has_threads_throughout(const ir::Stmt& s);

// Whether the statement contains a loop over threads.
bool has_thread_loop(const ir::Stmt& s);

}  // namespace texloom::schedule
