// Checks whether the loops of a stage can be lowered as its directives ask.
#pragma once

#include "lower/lowering.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports vectors whose length is not constant, axes bound to the same threads, reductions over
// threads in the wrong order, predicates of stages that store nothing, and pipelines without a
// loop.
void check_loops(const Lowering& lowering, const schedule::Stage& stage, DiagnosticSink& sink);

}  // namespace texloom::lower
