#include "ir/verify/verify_launch.h"

#include <string>

#include "ir/equal.h"
#include "ir/verify/verify_text.h"

namespace texloom::ir {

void check_launch(const Kernel& launched, const Stmt& launch, const PlanState& plan,
                  Violations& found) {
  const auto loop_extent = [&](const Expr& variable) {
    const auto loop = plan.loop_extents.find(variable.get());
    return loop == plan.loop_extents.end() ? Expr() : loop->second;
  };
  for (const KernelParam& p : launched.params) {
    const std::string name = p.buffer ? p.buffer->name : text_of(p.scalar);
    if (p.buffer ? !plan.scope.contains(p.buffer.get()) : !plan.scope.contains(p.scalar.get())) {
      found.add(Rule::Plan, launch, "the plan does not define {} of kernel {}", name,
                launched.name);
    } else if (!p.buffer && p.extent && !equal(loop_extent(p.scalar), p.extent)) {
      found.add(Rule::Plan, launch, "{} of kernel {} has no loop to {} around it", name,
                launched.name, text_of(p.extent));
    }
    if (p.buffer && plan.allocations.is_freed(p.buffer)) {
      found.add(Rule::Plan, launch, "{} of kernel {} is freed already", name, launched.name);
    }
  }
}

}  // namespace texloom::ir
