// Where kernels begin in a tree of loops.
#pragma once

#include "ir/stmt.h"
#include "ir/visit.h"

namespace texloom::schedule {

// Hands each part of the statement that is one kernel to `make`. What stands around the parts is
// done by the launch plan: sequences, memory that all kernels see, and loops, whose iterations are
// launched one after the other.
//
// A loop is the plan's where it is serial or unrolled (which is then the same), its extent is
// arithmetic of constants, symbols and variables of such loops, and everything in it that would be
// a kernel has threads. Not where its iterations share memory of a block or a thread, or fill a
// pipelined buffer ahead: those are a kernel's own loops.
ir::Stmt divided_into_kernels(const ir::Stmt& s, ir::StmtMap make);

// Whether there are threads for each part that would be a kernel.
bool has_threads_throughout(const ir::Stmt& s);

// Whether there is a loop over threads anywhere in it.
bool has_thread_loop(const ir::Stmt& s);

}  // namespace texloom::schedule
