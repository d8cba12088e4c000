// Scans: operations of which each step reads what the steps before it computed.
#pragma once

#include <unordered_set>

#include "schedule/operation.h"

namespace texloom::schedule {

// What te.scan makes, with an axis of this name for its steps. Inits and updates are computes,
// states placeholders, each of one state only. The steps are as many as the rows that the updates
// have behind those of the inits.
//
// Fails with BadScan where shapes or types do not fit, where there is no step, or where a step is
// not known to read rows before its own alone.
Op make_scan(std::string name, const std::string& axis, std::string tag,
             std::vector<ScanState> states, SourceLocation location,
             Ref<RefCounted> attributes = {});

// What one step computes.
struct ScanStep {
  // The updates, and what they read that depends on states; what is read first.
  std::vector<Op> operations;
  // Variables of those of their axes that are the step's row, wherever they are read.
  std::unordered_set<const ir::ExprNode*> rows;
};
ScanStep step_of(const Operation& scan);

}  // namespace texloom::schedule
