// Checks stages whose values several blocks share out (schedule/attach.h).
#pragma once

#include "lower/lowering.h"
#include "schedule/stage_links.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports a divided stage where the target has no fence for the device; in loops other than those
// of the grid; beside another one; and beside other axes over blocks, of which only the last goes
// on.
void check_divided_stages(const Lowering& lowering, DiagnosticSink& sink);

}  // namespace texloom::lower
