// Checks whether the schedule can be called with these arguments.
#pragma once

#include "lower/lowering.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports arguments that are missing or named twice, and declarations that do not fit the tensor or
// the place where its stage is computed.
void check_arguments(const Lowering& lowering, DiagnosticSink& sink);

}  // namespace texloom::lower
