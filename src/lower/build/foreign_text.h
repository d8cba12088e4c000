// C text in a schedule, and calls of the functions that it defines.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace texloom::lower {

// The texts of the pragmas "import_c" of all stages, each once, in the order of the schedule. Fails
// with NotProvided where a stage makes a foreign call but there is no such text.
std::vector<std::string> foreign_text(const schedule::Schedule& schedule);

}  // namespace texloom::lower
