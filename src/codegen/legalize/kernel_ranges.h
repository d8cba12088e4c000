// Known ranges of the values of a kernel's variables.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// The ranges of a kernel's variables: thread axes, loop variables and Lets of integers.
ir::arith::Ranges ranges_of(const ir::Kernel& kernel);

}  // namespace texloom::codegen
