// Stages of which an intrinsic stands for some loops.
#pragma once

#include "schedule/schedule.h"

namespace texloom::schedule {

bool is_tensorized(const Stage& stage);

}  // namespace texloom::schedule
