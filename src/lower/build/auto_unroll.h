// Applies the pragmas that ask for unrolling.
#pragma once

#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// Applies the pragmas auto_unroll_max_step and unroll_explicit of a stage to the loop of this axis.
// Unrolls serial loops whose copies make at most auto_unroll_max_step stores and contain no
// remaining loop. With unroll_explicit=0, the device's compiler unrolls them. Fails with BadPragma.
ir::Stmt apply_unroll_pragmas(const schedule::Stage& stage, const ir::IterVar& axis, ir::Stmt loop);

}  // namespace texloom::lower
