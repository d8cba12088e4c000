#include "lower/build/leaf_loops.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

void check_virtual_threads(const LeafLoop& outer, const LeafLoop& inner,
                           const SourceLocation& where) {
  if (equal(outer.extent, inner.extent)) return;
  fail(where, Code::ThreadExtentMismatch,
       "split both axes so that the parts bound to the thread axis have one extent, or bind them "
       "to virtual threads of their own",
       "the virtual threads of '{}' have the extent {} here, but {} at the enclosing axis '{}'",
       inner.axis->name(), to_string(inner.extent), to_string(outer.extent), outer.axis->name());
}

}  // namespace

LeafLoops::LeafLoops(const Schedule& schedule, const Bounds& bounds,
                     std::vector<Diagnostic>& warnings)
    : s_(schedule),
      bounds_(bounds),
      keeps_parallel_(!binds_threads(schedule)),
      warnings_(warnings) {}

Stmt LeafLoops::around(StageId id, const LeafLoop& loop, Stmt body) const {
  const AxisAttributes* attributes = s_.stage(id).attributes_of(loop.axis);
  const Expr& count = loop.end;
  if (attributes == nullptr) {
    return make_for(loop.var, count, LoopKind::Serial, std::move(body), loop.axis->location);
  }
  const SourceLocation& where = attributes->location;
  if (attributes->loop == LoopKind::Parallel && !keeps_parallel_) {
    warn_of_serial_loop(id, loop.axis, where);
    return make_for(loop.var, count, LoopKind::Serial, std::move(body), where);
  }
  if (!attributes->thread) {
    return make_for(loop.var, count, attributes->loop, std::move(body), where);
  }
  if (!thread_of(s_, {id, loop.axis})) {
    return make_for(loop.var, count, LoopKind::Serial, std::move(body), where);
  }
  if (attributes->loop == LoopKind::Thread) {
    return make_thread_for(loop.var, count, attributes->thread->tag, std::move(body), where);
  }
  if (const LeafLoop* outer = same_virtual_threads(id, attributes->thread)) {
    check_virtual_threads(*outer, loop, where);
    return substitute(body, {{loop.var, outer->var}});
  }
  return make_for(loop.var, count, LoopKind::Virtual, std::move(body), where);
}

void LeafLoops::warn_of_serial_loop(StageId id, const IterVar& axis,
                                    const SourceLocation& where) const {
  warnings_.push_back({Severity::Warning,
                       Code::AnnotationIgnored,
                       where,
                       fmt::format("the loop '{}' of '{}' stays serial: in a kernel, only loops "
                                   "that are bound to threads run in parallel",
                                   axis->name(), s_.stage(id).name()),
                       "bind the axis to te.thread_axis(\"blockIdx.x\") or threadIdx.x",
                       {}});
}

// The loop over the same virtual threads that encloses the stage, or null.
const LeafLoop* LeafLoops::same_virtual_threads(StageId id, const IterVar& thread) const {
  for (const LoopRef& ref : enclosing_loops(s_, id)) {
    const AxisAttributes* attributes = s_.stage(ref.stage).attributes_of(ref.leaf);
    if (attributes == nullptr || !thread.same_as(attributes->thread)) continue;
    if (!thread_of(s_, ref)) continue;
    return &bounds_.of(ref.stage).loop_of(ref.leaf);
  }
  return nullptr;
}

}  // namespace texloom::lower
