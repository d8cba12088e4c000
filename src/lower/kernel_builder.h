// One root nest as a kernel.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/target.h"

namespace texloom::lower {

// The numbers that the launch plan has where it launches the kernel.
struct PlanVariables {
  ir::Exprs symbols;
  std::vector<const ir::For*> loops;  // around the launch, outermost first
};

// Those of them that the body uses become parameters.
ir::Kernel build_kernel(std::string name, const ir::Nest& nest, const PlanVariables& plan,
                        const ir::Target& target);

}  // namespace texloom::lower
