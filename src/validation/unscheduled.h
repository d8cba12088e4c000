// The result of a schedule, whatever its directives are.
#pragma once

#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::validation {

// Makes a program of stage loops that runs the computes as the user wrote them (Stage::origin), one
// after the other, in loops over their axes. Run by ir::interpret, it is the oracle for the
// programs that lowering makes of the schedule. It shares no code with bound inference, inlining,
// caches or loop building.
//
// Parameters are the arguments, in their order, all in row-major buffers: declarations are ignored.
// Other tensors are temporaries; an input that is not an argument is never written.
//
// Each step of a reduction is rounded to the tensor's type, in the order of its axes, the last one
// fastest. A schedule computes the same bits unless it reorders the parts of a reduction, or the
// target contracts products and sums (MathMode).
//
// Takes a program of stage te, before any pass. Fails with BadShape for an extent below 1.
ir::Program unscheduled_program(const lower::Lowering& lowering);

}  // namespace texloom::validation
