// Joins plans into one that runs them in order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// One of the plans to join. `arguments[i]` is the tensor of the joined plan, called the whole
// below, that this plan gets as argument i.
struct PlanPart {
  const LaunchPlan* plan = nullptr;
  std::vector<TensorRef> arguments;
};

struct PlanTensors {
  std::vector<TensorSpec> arguments = {};
  std::vector<TensorSpec> temporaries = {};
  std::vector<TensorSpec> constants = {};
  std::vector<PartOfTemporary> parts = {};  // of temporaries
  std::vector<std::string> symbols = {};    // on which shapes depend
  std::vector<SizeCondition> conditions = {};
};

// The plan of the parts, in order, over these tensors. A temporary of the whole is allocated before
// the first plan that names it or a temporary that is part of it, and freed after the last one. The
// parts' own temporaries, constants, conditions, scalars and calls follow those of the whole, part
// by part. Equal kernels become one. The result has no workspace and does not name all barriers; it
// is valid if the joined plans are valid, and each temporary that is part of another lies within
// that one. `plan_of_step`, if not null, becomes the number of the plan that each step of the
// outermost list comes from.
//
// A symbol of a part gets its value from an extent that consists of this symbol only: with the
// argument [n, 2 * m] of a part for [h / 2, 8] of the whole, n is h / 2. If several extents consist
// of the symbol, the first counts; the caller guarantees that all others agree. Any other symbol,
// and a scalar, gets its value from the whole's symbol of the same name. A scalar without such a
// symbol becomes a scalar of the whole.
//
// InvalidArgument, naming the part and the tensor: a missing argument or a tensor that does not
// exist; storage that is smaller or of another kind than the part's; a temporary that no part
// names; a symbol whose value the whole does not give.
Result<LaunchPlan> concatenate(PlanTensors tensors, std::span<const PlanPart> parts,
                               std::vector<std::size_t>* plan_of_step = nullptr);

}  // namespace texloom::runtime
