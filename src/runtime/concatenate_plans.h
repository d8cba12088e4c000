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

struct PlanTensors {
  std::vector<TensorSpec> arguments = {};
  std::vector<TensorSpec> temporaries = {};
  std::vector<TensorSpec> constants = {};
};

// The plan of the parts, in order, over these tensors. A temporary of the whole is allocated before
// the first part that names it and freed after the last. The parts' own temporaries, constants,
// scalars and calls follow those of the whole, part by part. Equal kernels become one. The result
// has no workspace and does not name all barriers; it is valid if the parts are.
//
// InvalidArgument, naming the part and the tensor: a missing argument or a tensor that does not
// exist; storage that is smaller or of another kind than the part's; a temporary that no part
// names. Unimplemented for parts whose sizes depend on symbols.
Result<LaunchPlan> concatenate(PlanTensors tensors, std::span<const PlanPart> parts);

}  // namespace texloom::runtime
