// Whether the loops of a stage can be what directives made of them.
#pragma once

#include "lower/lowering.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports vectors of no constant length, threads that meet in themselves, reductions over threads
// that stand in the wrong order, predicates of what stores nothing, and pipelines without a loop.
void check_loops(const Lowering& lowering, const schedule::Stage& stage, DiagnosticSink& sink);

}  // namespace texloom::lower
