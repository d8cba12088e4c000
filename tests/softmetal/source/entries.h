// The code that the token pass appends to a program: an entry point and descriptions per kernel.
#pragma once

#include <string>

#include "tests/softmetal/source/program.h"

namespace softmetal {

// Entry points are numbered in the order of program.kernels, and descriptions of structs in the
// order of program.structs. compile/module.h declares their symbols.
std::string print_entries(const Program& program, const std::string& file);

}  // namespace softmetal
