// What a schedule computes, whatever its directives say.
#pragma once

#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::lower {

// The computes as the user wrote them (Stage::origin), one after the other, in loops over their
// axes as they stand: a program of stage Loops. Run by ir::interpret it is the oracle for all that
// lowering makes of the schedule. It shares no code with bound inference, inlining, caches or
// loop building.
//
// Parameters are the arguments, in their order, all in row-major buffers: declarations count for
// nothing. Other tensors are temporaries; an input that is no argument is never written.
//
// Each step of a reduction is rounded to the tensor's type, in the order of its axes, the last one
// fastest. A schedule computes the same bits unless it reorders the parts of a reduction, or the
// target contracts products and sums (MathMode).
//
// Before: a program of stage Te, before any pass. Fails with BadShape for an extent below 1.
ir::Program unscheduled_program(const Lowering& lowering);

}  // namespace texloom::lower
