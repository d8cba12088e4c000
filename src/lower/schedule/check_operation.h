// Checks whether the operation of a stage fits its place in the schedule.
#pragma once

#include "lower/lowering.h"
#include "schedule/stage_links.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports externs that are attached, scans whose steps are visible outside, externs and scans whose
// result is not in a row-major buffer, and reads outside of tensors in the steps of scans.
void check_operation(const Lowering& lowering, const schedule::StageLinks& links,
                     const schedule::Stage& stage, DiagnosticSink& sink);

}  // namespace texloom::lower
