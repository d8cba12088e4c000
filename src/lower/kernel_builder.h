// One root nest as a kernel.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/target.h"

namespace texloom::lower {

// `symbols` are the program's: those that the body uses become parameters.
ir::Kernel build_kernel(std::string name, const ir::Nest& nest, const ir::Exprs& symbols,
                        const ir::Target& target);

}  // namespace texloom::lower
