// Collects the definitions of the foreign functions that a schedule calls.
#pragma once

#include <vector>

#include "ir/program.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// The texts of the pragmas "import_c" of all stages, without duplicates, in the order of the
// schedule. Then the functions of the libraries that the pragmas "import_library" and "import_llvm"
// name, as symbols whose signatures are those of the calls in the statements of the pragma's stage.
//
// Fails with NotProvided if a stage makes a foreign call but there is neither, and with
// BadForeignCall if two calls of a symbol differ in their types.
std::vector<ir::Foreign> foreign_code(const schedule::Schedule& schedule);

}  // namespace texloom::lower
