// Computes the result of a schedule without its directives.
#pragma once

#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::validation {

// Makes a program at stage loops that runs the computes as the user wrote them (Stage::origin), one
// after the other, in loops over their axes. Run by ir::interpret, it is the oracle for the
// programs that lowering makes from the schedule. This oracle shares no code with bound inference,
// inlining, caches or loop building.
//
// A compute may read outside of a tensor at points that no reader needs. A schedule need not
// compute these points; here, the value that is read is undefined. Parameters are the arguments, in
// their order, all in row-major buffers: declarations are ignored. Other tensors are temporaries;
// an input that is not an argument is never written. Each step of a reduction is rounded to the
// tensor's type; the last axis of the reduction varies fastest. A schedule computes the same bits
// unless it reorders the steps of a reduction, or the target contracts products and sums
// (MathMode). Requires a program at stage te, before any pass. Fails with BadShape for an extent
// below 1.
ir::Program unscheduled_program(const lower::Lowering& lowering);

}  // namespace texloom::validation
