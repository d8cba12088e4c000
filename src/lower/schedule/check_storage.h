// Checks whether the result of a stage can be stored where the schedule puts it.
#pragma once

#include "lower/lowering.h"
#include "schedule/stage_links.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports textures that the target does not have or that cannot hold the elements, element types
// that the target lacks, and scopes that the readers do not share. Fails with AttachNotFound or
// AttachCycle.
void check_storage(const Lowering& lowering, const schedule::StageLinks& links,
                   const schedule::Stage& stage, DiagnosticSink& sink);

}  // namespace texloom::lower
