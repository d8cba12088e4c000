#include "lower/schedule/double_buffers.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

bool is_attached_to(const Schedule& s, const Stage& stage, const LoopRef& loop) {
  const Attachment& at = stage.attachment;
  return at.kind == AttachKind::At && at.stage == loop.stage &&
         leaf_of(s.stage(at.stage), at.axis).same_as(loop.leaf);
}

// Whether the stage `id` is `stage`, or is attached to `stage` directly or through other stages.
bool is_computed_in(const Schedule& s, StageId id, StageId stage) {
  while (id != stage && s.stage(id).attachment.kind == AttachKind::At) {
    id = s.stage(id).attachment.stage;
  }
  return id == stage;
}

// Checks the inputs of the stage and of all stages that are computed in it.
void check_inputs(const Schedule& s, const Stage& stage) {
  const LoopRef loop{stage.attachment.stage,
                     leaf_of(s.stage(stage.attachment.stage), stage.attachment.axis)};
  for (const StageId id : s.order()) {
    if (!is_computed_in(s, id, stage.id)) continue;
    for (const Tensor& input : s.stage(id).op->inputs) {
      const Stage& source = s.stage(s.producer(input));
      if (!is_attached_to(s, source, loop) || has_two_buffers(s, source.id)) continue;
      fail(stage.double_buffer_location, Code::BadDoubleBuffer,
           fmt::format("call double_buffer on '{}' too, or attach it to a loop of '{}'",
                       source.name(), stage.name()),
           "double_buffer computes '{}' one iteration ahead of '{}', which it reads", stage.name(),
           source.name());
    }
  }
}

// A step of a scan reads values that exist only once the steps before it are done.
void check_steps(const Schedule& s, const Stage& stage) {
  const Stage& host = s.stage(stage.attachment.stage);
  if (!host.op->is_scan() || stage.scan != host.id) return;
  fail(stage.double_buffer_location, Code::BadDoubleBuffer, "attach it to a loop of the update",
       "double_buffer computes '{}' ahead of the step of the scan '{}' whose values it reads",
       stage.name(), host.name());
}

}  // namespace

bool has_two_buffers(const Schedule& s, StageId id) {
  const Stage& stage = s.stage(id);
  if (!stage.double_buffered || stage.attachment.kind != AttachKind::At) return false;
  const Stage& host = s.stage(stage.attachment.stage);
  const IterVar leaf = leaf_of(host, stage.attachment.axis);
  const AxisAttributes* attributes = host.attributes_of(leaf);
  const bool in_order = attributes == nullptr || is_sequential(attributes->loop) ||
                        (attributes->thread && !thread_of(s, {host.id, leaf}));
  return in_order && scope_of(s, id).memory != MemoryScope::Global;
}

std::vector<StageId> double_buffered_at(const Schedule& s, const LoopRef& loop) {
  std::vector<StageId> found;
  for (const StageId id : s.order()) {
    if (is_attached_to(s, s.stage(id), loop) && has_two_buffers(s, id)) found.push_back(id);
  }
  return found;
}

void check_double_buffers(Lowering& lowering) {
  const Schedule& s = lowering.schedule;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    if (!stage.double_buffered || stage.attachment.kind == AttachKind::Inline) continue;
    if (has_two_buffers(s, id)) {
      check_steps(s, stage);
      check_inputs(s, stage);
      continue;
    }
    lowering.warnings.push_back(
        {Severity::Warning,
         Code::AnnotationIgnored,
         stage.double_buffer_location,
         fmt::format("'{}' has one buffer: it is not recomputed in each iteration of a loop",
                     stage.name()),
         "attach it to a serial loop of its reader with compute_at, or leave double_buffer out",
         {}});
  }
}

}  // namespace texloom::lower
