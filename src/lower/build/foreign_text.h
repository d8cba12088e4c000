// Collects the C text in a schedule and checks that it covers foreign calls.
#pragma once

#include <vector>

#include "ir/program.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// The texts of the pragmas "import_c" of all stages, without duplicates, in the order of the
// schedule. Fails with NotProvided if a stage makes a foreign call but there is no such text.
std::vector<ir::Foreign> foreign_text(const schedule::Schedule& schedule);

}  // namespace texloom::lower
