#include "lower/schedule/check_divided_stages.h"

#include <algorithm>
#include <map>

#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class DividedStages {
 public:
  DividedStages(const Lowering& lowering, DiagnosticSink& sink)
      : s_(lowering.schedule), target_(lowering.target), sink_(sink) {}

  void run() {
    for (const StageId id : s_.order()) {
      if (is_divided_among_blocks(s_, id)) check(s_.stage(id));
    }
  }

 private:
  // The root stage, in whose kernel the stage is computed.
  StageId root_of(StageId id) const {
    while (s_.stage(id).attachment.kind == AttachKind::At) id = s_.stage(id).attachment.stage;
    return id;
  }

  void check(const Stage& stage) {
    const StageId root = root_of(stage.id);
    if (!target_.features.device_fence) {
      sink_.error(stage.attachment.location, Code::ScopeTooWide,
                  "leave it at the root, so that it becomes a kernel, or build for a target that "
                  "has -device_fence=1",
                  "blocks share out '{}' and the last of them reads it, but the target '{}' does "
                  "not show blocks what others wrote",
                  stage.name(), to_string(target_));
    }
    const auto [other, added] = divided_.try_emplace(root, stage.id);
    if (!added) {
      sink_.error(stage.attachment.location, Code::ScopeTooWide,
                  "leave one of them at the root, so that it becomes a kernel",
                  "blocks share out '{}' and '{}' in one kernel: blocks take one ticket only",
                  s_.stage(other->second).name(), stage.name());
    }
    check_loops_around(stage);
    const std::vector<IterVar> own = leaves_over_blocks(s_, stage.id);
    for (const IterVar& leaf : own) check_own(stage, leaf);
    for (const StageId id : s_.order()) {
      const Stage& neighbor = s_.stage(id);
      const bool computes =
          neighbor.op->is_compute() && neighbor.attachment.kind != AttachKind::Inline;
      if (!computes || is_divided_among_blocks(s_, id) || root_of(id) != root) continue;
      check_blocks_of(neighbor, stage);
    }
  }

  static bool is_block(const IterVar& thread) {
    return thread && thread->kind == IterKind::Thread && thread->tag.block;
  }

  // Whether a loop around the stage is over these blocks.
  bool is_around(const IterVar& thread, const Stage& stage) const {
    return std::ranges::any_of(enclosing_loops(s_, stage.id), [&](const LoopRef& loop) {
      const IterVar outer = thread_of(s_, loop);
      return outer && is_one_thread_axis(outer, thread);
    });
  }

  void check_loops_around(const Stage& stage) {
    for (const LoopRef& loop : enclosing_loops(s_, stage.id)) {
      if (is_block(thread_of(s_, loop))) continue;
      sink_.error(
          stage.attachment.location, Code::ScopeTooWide,
          "attach it to the innermost loop that is bound to a blockIdx, outside of all other "
          "loops",
          "blocks share out '{}', but it is computed inside of the loop '{}' of '{}', which "
          "is not bound to blocks",
          stage.name(), loop.leaf->name(), s_.stage(loop.stage).name());
      return;
    }
  }

  void check_own(const Stage& stage, const IterVar& leaf) {
    const AxisAttributes& attributes = *stage.attributes_of(leaf);
    if (is_around(attributes.thread, stage)) {
      sink_.error(attributes.location, Code::NestedThread,
                  "bind it to a blockIdx that no loop around the stage has",
                  "the axis '{}' of '{}' is bound to {}, as is a loop around it", leaf->name(),
                  stage.name(), attributes.thread->name());
    }
  }

  void check_blocks_of(const Stage& neighbor, const Stage& divided) {
    for (const IterVar& leaf : leaves_over_blocks(s_, neighbor.id)) {
      const AxisAttributes& attributes = *neighbor.attributes_of(leaf);
      if (is_around(attributes.thread, divided)) continue;
      sink_.error(attributes.location, Code::NestedThread,
                  "bind it to threads, or attach the other stage inside of this loop",
                  "the axis '{}' of '{}' is bound to {}, but blocks share out '{}' outside of that "
                  "loop, and only the last of them goes on",
                  leaf->name(), neighbor.name(), attributes.thread->name(), divided.name());
    }
  }

  const Schedule& s_;
  const Target& target_;
  DiagnosticSink& sink_;
  std::map<StageId, StageId> divided_;  // by root stage
};

}  // namespace

void check_divided_stages(const Lowering& lowering, DiagnosticSink& sink) {
  DividedStages(lowering, sink).run();
}

}  // namespace texloom::lower
