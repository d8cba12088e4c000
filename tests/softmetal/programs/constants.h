// Values of function constants from the command line.
#pragma once

#include <map>
#include <string>

#include "tests/softmetal/execute/library.h"

namespace softmetal {

// Returns whether the program has these constants, with types that fit; if not, sets `problem`.
bool check_constants(const Library& library, const std::map<int, std::string>& values,
                     std::string& problem);

}  // namespace softmetal
