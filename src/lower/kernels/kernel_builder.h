// Builds a kernel from one root nest.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::lower {

// The variables that the launch plan defines at the point where it launches the kernel.
struct PlanVariables {
  ir::Exprs symbols;
  std::vector<const ir::For*> loops;  // the loops around the launch, outermost first
};

// Turns the plan's variables that the body uses into parameters of the kernel.
ir::Kernel build_kernel(std::string name, const ir::Nest& nest, const PlanVariables& plan,
                        const ir::Target& target);

}  // namespace texloom::lower
