// Kernels: their parameters, and the rules for parameters.
#pragma once

#include "tests/softmetal/source/declarations.h"

namespace softmetal {

// Reads a kernel's parameters from `d`. Parameters without an index get the lowest free index.
void read_parameters(Code& code, const Declaration& d, Kernel& kernel);

// Reports indices that are used twice or exceed the limit, and invalid types of parameters.
void check_kernel(Code& code, const Declaration& d, const Kernel& kernel);

}  // namespace softmetal
