// Joins plans into one that runs them in order.
#pragma once

#include <span>
#include <vector>

#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// One plan of several. `arguments` says which tensor of the whole each of its arguments is.
struct PlanPart {
  const LaunchPlan* plan = nullptr;
  std::vector<TensorRef> arguments;
};

// The plan of the parts, in order, over these arguments and temporaries. A temporary of the whole
// is allocated before the first part that names it and freed after the last; the parts' own follow
// it. Scalars of the parts follow one another. Equal kernels become one. The result has no
// workspace, and is valid if the parts are.
//
// InvalidArgument, naming the part and the tensor: a missing argument or a tensor that does not
// exist; storage that is smaller or of another kind than the part's; a temporary that no part
// names. Unimplemented for parts whose sizes depend on symbols.
Result<LaunchPlan> concatenate(std::vector<TensorSpec> arguments,
                               std::vector<TensorSpec> temporaries,
                               std::span<const PlanPart> parts);

}  // namespace texloom::runtime
