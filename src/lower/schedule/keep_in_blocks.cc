#include "lower/schedule/keep_in_blocks.h"

#include "schedule/attach.h"

namespace texloom::lower {

void keep_in_blocks(Lowering& lowering) {
  schedule::Schedule& schedule = lowering.schedule;
  if (lowering.target.kind != ir::TargetKind::Llvm || schedule::binds_threads(schedule)) return;
  for (const schedule::StageId id : schedule.order()) {
    schedule::Stage& stage = schedule.stage(id);
    if (stage.attachment.kind != schedule::AttachKind::At) continue;
    if (schedule.scan_written_by(id)) continue;  // it writes rows of the scan
    ir::StorageScope scope = schedule::scope_of(schedule, id);
    if (scope.memory != ir::MemoryScope::Global) continue;
    scope.memory = ir::MemoryScope::Shared;
    stage.scope = scope;
  }
}

}  // namespace texloom::lower
