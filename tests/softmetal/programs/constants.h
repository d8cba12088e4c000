// Values of function constants from the command line.
#pragma once

#include <map>
#include <string>

#include "tests/softmetal/execute/library.h"

namespace softmetal {

// Whether the program has all these constants, and their types take the values; else `problem`.
bool check_constants(const Library& library, const std::map<int, std::string>& values,
                     std::string& problem);

}  // namespace softmetal
