// What pragmas say of unrolling.
#pragma once

#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// The pragmas auto_unroll_max_step and unroll_explicit of a stage, applied to the statement that
// the loop of this axis is: serial loops without other loops inside that stay loops are unrolled
// where their copies make at most that many stores. With unroll_explicit=0 they are left to the
// device's compiler. Fails with BadPragma.
ir::Stmt apply_unroll_pragmas(const schedule::Stage& stage, const ir::IterVar& axis, ir::Stmt loop);

}  // namespace texloom::lower
