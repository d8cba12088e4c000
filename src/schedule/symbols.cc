#include "schedule/symbols.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

Exprs extents_at_calls(const Schedule& schedule) {
  Exprs extents;
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    if (!stage.op->is_placeholder() && !stage.is_output) continue;
    extents.insert(extents.end(), stage.op->shape.begin(), stage.op->shape.end());
  }
  return extents;
}

}  // namespace texloom::schedule
