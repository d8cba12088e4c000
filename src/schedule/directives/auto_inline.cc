#include "schedule/directives/auto_inline.h"

#include <algorithm>

#include "ir/visit.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Whether the indices are the operation's axes, in their order: all of them for ElementWise,
// otherwise any of them.
bool reads_own_axes(const Operation& op, const TensorRead& n, InlinePattern pattern) {
  if (pattern == InlinePattern::ElementWise && n.indices.size() != op.axes.size()) return false;
  size_t next = 0;
  for (const Expr& index : n.indices) {
    while (next < op.axes.size() && !op.axes[next]->var.same_as(index)) {
      if (pattern == InlinePattern::ElementWise) return false;
      ++next;
    }
    if (next++ == op.axes.size()) return false;
  }
  return true;
}

bool has_pattern(const Operation& op, InlinePattern pattern) {
  if (!op.is_compute() || !op.reduce_axes.empty()) return false;
  if (pattern == InlinePattern::Injective) return true;
  if (pattern == InlinePattern::Broadcast && op.tag == "broadcast") return true;
  bool holds = true;
  walk(op.body, [&](const TensorRead& n) { holds = holds && reads_own_axes(op, n, pattern); });
  return holds;
}

// Whether an intrinsic computes the stage or reads it. Inlining the stage would change the loops
// that the intrinsic has to match.
bool concerns_intrinsic(const Schedule& schedule, const Stage& stage) {
  const std::vector<StageId> readers = schedule.readers_of(stage.id);
  return stage.is_tensorized() || std::any_of(readers.begin(), readers.end(), [&](StageId reader) {
           return schedule.stage(reader).is_tensorized();
         });
}

}  // namespace

void auto_inline(Schedule& schedule, InlinePattern pattern, const SourceLocation& where) {
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    if (stage.is_output || schedule.scan_written_by(id) || !has_pattern(*stage.op, pattern) ||
        concerns_intrinsic(schedule, stage)) {
      continue;
    }
    schedule.compute_inline(id, where);
  }
}

}  // namespace texloom::schedule
