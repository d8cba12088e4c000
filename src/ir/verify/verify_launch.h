// The verifier's rules about what a launch plan passes to kernels.
#pragma once

#include <unordered_map>

#include "ir/program.h"
#include "ir/verify/verify_allocations.h"
#include "ir/verify/verify_scope.h"
#include "ir/verify/violations.h"

namespace texloom::ir {

// The extents of loops, by their variables.
using LoopExtents = std::unordered_map<const ExprNode*, Expr>;

// What a plan knows at the place of a launch.
struct PlanState {
  const VerifyScope& scope;
  const Allocations& allocations;
  const LoopExtents& loop_extents;
};

// Checks that the plan defines what the kernel takes: buffers that are not freed, and the variables
// of loops with the extents that the kernel expects.
void check_launch(const Kernel& launched, const Stmt& launch, const PlanState& plan,
                  Violations& found);

}  // namespace texloom::ir
