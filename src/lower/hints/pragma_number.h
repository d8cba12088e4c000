// The numbers that pragmas have.
#pragma once

#include "schedule/stage.h"

namespace texloom::lower {

// The value of the stage's pragma. Fails with BadPragma if it is not an integer of at least 0.
int64_t pragma_number(const schedule::Stage& stage, const schedule::Pragma& pragma);

}  // namespace texloom::lower
