// Indices that an operation computes.
#pragma once

#include "ir/arith/ranges.h"
#include "schedule/operation.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports what a compute reads outside of tensors (OutOfBounds), and sums of axes that int32 does
// not hold (IndexTooLarge). Axes of which nothing is known run over their whole domain; a read
// under a condition is trusted to be guarded.
void check_reads(const schedule::Operation& op, ir::arith::Ranges known, DiagnosticSink& sink);

}  // namespace texloom::lower
