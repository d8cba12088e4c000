// Makes a kernel of one root nest.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::lower {

// The numbers that the launch plan knows where it launches the kernel.
struct PlanVariables {
  ir::Exprs symbols;
  std::vector<const ir::For*> loops;  // around the launch, outermost first
};

// The plan's variables that the body uses become parameters.
ir::Kernel build_kernel(std::string name, const ir::Nest& nest, const PlanVariables& plan,
                        const ir::Target& target);

}  // namespace texloom::lower
