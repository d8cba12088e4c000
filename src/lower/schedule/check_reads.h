// Checks the indices with which an operation reads tensors.
#pragma once

#include <cstdint>

#include "ir/arith/ranges.h"
#include "schedule/bounds/bounds.h"
#include "schedule/operation/operation.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// Reports reads of a compute that are outside the tensor (OutOfBounds), and sums of axes that
// exceed int32 (IndexTooLarge). An axis that is not in `known` runs over its whole domain.
//
// A condition that compares axes, or axes plus constants, with constants leaves a box of points, at
// which reads are checked by intervals. Under other conditions, and for indices whose intervals are
// too wide, a read is refused if a point is found at which it is outside (outside_point.h). If none
// is found, the read is assumed to be guarded, whatever its storage scope. Returns the number of
// indices for which only this assumption is made.
int64_t check_reads(const schedule::Operation& op, ir::arith::Ranges known, DiagnosticSink& sink);

// Infers bounds so that no computed point reads outside a tensor. Every point of a shape is
// computed, unless computing only the needed points avoids reads outside, leaves fewer reads that
// are only assumed to be guarded, or makes an axis of symbolic extent with such reads end earlier.
// Reads in the steps of scans are not checked here. Fails with the errors of check_reads if even
// the needed points read outside.
schedule::Bounds infer_checked_bounds(const schedule::Schedule& s);

}  // namespace texloom::lower
