// Whether what a stage computes is fit for its place in the schedule.
#pragma once

#include "lower/lowering.h"
#include "schedule/stage_links.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports externs that are attached or bound to no thread, scans whose steps are seen from outside
// or lie elsewhere than in rows of memory, and reads outside of tensors.
void check_operation(const Lowering& lowering, const schedule::StageLinks& links,
                     const schedule::Stage& stage, DiagnosticSink& sink);

}  // namespace texloom::lower
