// Scans: operations whose steps read the results of earlier steps.
#pragma once

#include <unordered_set>

#include "schedule/operation/operation.h"

namespace texloom::schedule {

// The operation of te.scan; `axis` names the axis of its steps. Inits and updates are computes,
// states are placeholders, and each belongs to one state only. The number of steps is the number of
// rows of the updates less the number of rows of the inits.
//
// Fails with BadScan if shapes or types do not fit, if there is no step, or if a step may read a
// row that is not before its own.
Op make_scan(std::string name, const std::string& axis, std::string tag,
             std::vector<ScanState> states, SourceLocation location,
             Ref<OperationAttributes> attributes = {});

// The computations of one step.
struct ScanStep {
  // The updates, and all their inputs that depend on states; inputs first.
  std::vector<Op> operations;
  // Variables of the axes that always equal the row of the step.
  std::unordered_set<const ir::ExprNode*> rows;
};
ScanStep step_of(const Operation& scan);

}  // namespace texloom::schedule
