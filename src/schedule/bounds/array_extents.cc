#include "schedule/bounds/array_extents.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

Exprs array_extents(const Schedule& schedule) {
  Exprs extents;
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    const bool input = stage.op->is_placeholder() && stage.scan < 0;
    if (!input && !stage.is_output) continue;
    for (const ir::Tensor& t : outputs_of(stage.op)) {
      extents.insert(extents.end(), t->shape.begin(), t->shape.end());
    }
  }
  return extents;
}

}  // namespace texloom::schedule
