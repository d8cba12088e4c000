// The text of a schedule: each stage with its computation, loops and place.
#pragma once

#include <string>

#include "schedule/schedule.h"

namespace texloom::schedule {

std::string to_string(const Schedule& schedule);

}  // namespace texloom::schedule
