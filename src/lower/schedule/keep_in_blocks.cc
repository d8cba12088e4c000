#include "lower/schedule/keep_in_blocks.h"

#include <optional>
#include <utility>

#include "schedule/attach.h"

namespace texloom::lower {

void keep_in_blocks(Lowering& lowering) {
  schedule::Schedule& schedule = lowering.schedule;
  if (schedule::binds_threads(schedule)) return;
  const bool is_native = lowering.target.kind == ir::TargetKind::Llvm;
  for (const schedule::StageId id : schedule.order()) {
    schedule::Stage& stage = schedule.stage(id);
    if (stage.attachment.kind != schedule::AttachKind::At) continue;
    if (schedule.scan_written_by(id)) continue;  // it writes rows of the scan
    ir::StorageScope scope = schedule::scope_of(schedule, id);
    if (scope.memory != ir::MemoryScope::Global) continue;
    const auto given = std::exchange(stage.scope, std::nullopt);
    const bool is_in_block = schedule::scope_of(schedule, id).memory != ir::MemoryScope::Global;
    scope.memory = ir::MemoryScope::Shared;
    stage.scope = is_native || is_in_block ? std::optional(scope) : given;
  }
}

}  // namespace texloom::lower
