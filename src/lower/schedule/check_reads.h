// Checks the indices that an operation computes.
#pragma once

#include "ir/arith/ranges.h"
#include "schedule/operation/operation.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports reads of a compute that are outside of tensors (OutOfBounds), and sums of axes that
// exceed int32 (IndexTooLarge). An axis that `known` does not name runs over its whole domain; a
// read under a condition is trusted to be guarded.
void check_reads(const schedule::Operation& op, ir::arith::Ranges known, DiagnosticSink& sink);

}  // namespace texloom::lower
