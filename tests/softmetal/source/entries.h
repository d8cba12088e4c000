// What the token pass appends to a program: an entry point and descriptions for each kernel.
#pragma once

#include <string>

#include "tests/softmetal/source/program.h"

namespace softmetal {

// Entry points are numbered in the order of program.kernels; those of structs in that of
// program.structs. Their symbols are declared in compile/module.h.
std::string print_entries(const Program& program, const std::string& file);

}  // namespace softmetal
