// Scans in schedules. The stages of a step are computed at the loop over the steps: updates always,
// other stages unless directives attach them further in. Inits are stages at the root. Inits and
// updates write into the result of the scan, and its states are the same memory.

#include <algorithm>

#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

std::optional<StageId> Schedule::scan_written_by(StageId id) const {
  // Scans read placeholders only as states.
  if (stage(id).op->is_placeholder()) return std::nullopt;
  const auto reads = [&](const Tensor& input) { return producer(input) == id; };
  for (const StageId other : order_) {
    const Operation& op = *stage(other).op;
    if (op.is_scan() && std::any_of(op.inputs.begin(), op.inputs.end(), reads)) return other;
  }
  return std::nullopt;
}

namespace {

// Checks parsed texts, in which the directives on a part of a scan precede the scan.
void check_unplaced(const Op& scan, const Stage& part) {
  const bool inlined = part.attachment.kind == AttachKind::Inline;
  if (!part.scope && !part.transform && part.alignments.empty() && !inlined) return;
  fail(scan->location, Code::ScanPlace, "leave its place and its storage to the scan",
       "scan '{}': '{}' is inlined, or has a scope or a layout of its own", scan->name,
       part.name());
}

}  // namespace

void Schedule::begin_steps(StageId id) {
  const Op scan = stage(id).op;
  const auto taken = [&](const Stage& part) {
    fail(scan->location, Code::BadScan, "give each scan its own inits, updates and states",
         "scan '{}': '{}' is part of another scan", scan->name, part.name());
  };
  for (const ScanState& state : scan->states) {
    for (const Tensor& t : {state.init, state.update, state.state}) {
      const Stage& part = stage(producer(t));
      if (part.scan >= 0) taken(part);
      const std::vector<StageId> readers = readers_of(part.id);
      const bool shared = std::any_of(readers.begin(), readers.end(), [&](StageId reader) {
        return reader != id && stage(reader).op->is_scan();
      });
      if (shared) taken(part);
      check_unplaced(scan, part);
    }
  }
  for (const ScanState& state : scan->states) {
    stage(producer(state.state)).scan = id;
    Stage& update = stage(producer(state.update));
    update.scan = id;
    update.attachment = own_place(update);
  }
  for (const StageId other : order_) join_step(other);
}

void Schedule::join_step(StageId id) {
  Stage& own = stage(id);
  if (own.scan >= 0 || !own.op->is_compute()) return;
  for (const Tensor& input : own.op->inputs) {
    const Stage& source = stage(producer(input));
    if (source.scan >= 0) own.scan = source.scan;
  }
  if (own.attachment.kind == AttachKind::Root) own.attachment = own_place(own);
}

Attachment Schedule::own_place(const Stage& own) const {
  if (own.scan < 0) return {};
  return {AttachKind::At, own.scan, stage(own.scan).op->scan_axis, {}};
}

void Schedule::refuse_part_of_scan(const Stage& own, std::string_view directive,
                                   const SourceLocation& where) const {
  const bool state = own.op->is_placeholder() && own.scan >= 0;
  const std::optional<StageId> scan = state ? own.scan : scan_written_by(own.id);
  if (!scan) return;
  const std::string& name = stage(*scan).name();
  fail(where, Code::ScanPlace,
       "schedule its loops; its inputs and the readers of the scan may be placed freely",
       "cannot apply {} to '{}': it computes elements of the scan '{}' and has no place or storage "
       "of its own",
       directive, own.name(), name);
}

void Schedule::refuse_scan(const Stage& own, std::string_view directive,
                           const SourceLocation& where) {
  if (!own.op->is_scan()) return;
  fail(where, Code::ScanPlace,
       "schedule the stages of its init and its update, and the readers of its result",
       "the scan '{}' does not allow {}: its steps run one after another, at the root, and "
       "continue from its result",
       own.name(), directive);
}

void Schedule::check_step(const Stage& own, const Stage& host, const SourceLocation& where) const {
  if (own.scan < 0 || own.scan == host.id || own.scan == host.scan) return;
  fail(where, Code::ScanPlace,
       "attach it to a loop of its reader in the step, or to the scan's scan_axis",
       "'{}' is computed in the steps of the scan '{}', and cannot be computed at a loop of '{}', "
       "which is outside of them",
       own.name(), stage(own.scan).name(), host.name());
}

}  // namespace texloom::schedule
