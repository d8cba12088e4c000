// Checks the indices with which an operation reads tensors.
#pragma once

#include "ir/arith/ranges.h"
#include "schedule/bounds/bounds.h"
#include "schedule/operation/operation.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports reads of a compute that are outside the tensor (OutOfBounds), and sums of axes that
// exceed int32 (IndexTooLarge). An axis that is not in `known` runs over its whole domain. A
// condition that compares axes with constants leaves a box of points, at which reads are checked; a
// read under another condition is assumed to be guarded, whatever the storage scope.
void check_reads(const schedule::Operation& op, ir::arith::Ranges known, DiagnosticSink& sink);

// Checks the reads of all computes, except those in the steps of scans, at the points that the
// bounds say are computed: other points of an operation may read outside. Fails like check_reads.
void check_computed_reads(const schedule::Schedule& s, const schedule::Bounds& bounds);

}  // namespace texloom::lower
