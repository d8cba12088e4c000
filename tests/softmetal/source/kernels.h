// Kernels: their parameters and the rules for these.
#pragma once

#include "tests/softmetal/source/declarations.h"

namespace softmetal {

// Reads a kernel's parameters from `d`. Indices that are not given are assigned: the lowest free
// ones.
void read_parameters(Code& code, const Declaration& d, Kernel& kernel);

// Reports indices that are used twice or over the limit, and types that no kernel may have.
void check_kernel(Code& code, const Declaration& d, const Kernel& kernel);

}  // namespace softmetal
