#include "lower/schedule/check_loops.h"

#include <algorithm>

#include "lower/schedule/double_buffers.h"
#include "schedule/attach.h"
#include "schedule/bounds/axis_values.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class LoopChecker {
 public:
  LoopChecker(const Lowering& lowering, DiagnosticSink& sink)
      : s_(lowering.schedule), sink_(sink) {}

  void run(const Stage& stage) {
    if (stage.op->is_placeholder()) return;
    if (stage.op->is_compute()) {
      if (stage.attachment.kind == AttachKind::Inline) return;
      check_vectorized(stage);
      check_threads(stage);
      check_shared_reduction(stage);
    }
    check_predicate(stage);
    check_pipeline(stage);
  }

 private:
  void check_vectorized(const Stage& stage) {
    for (const IterVar& leaf : stage.leaves) {
      const AxisAttributes* attributes = stage.attributes_of(leaf);
      if (attributes == nullptr || attributes->loop != LoopKind::Vectorized) continue;
      if (has_constant_extent(stage, leaf)) continue;
      sink_.error(attributes->location, Code::VectorizeExtent,
                  "split the axis by a constant and vectorize the inner part",
                  "cannot vectorize '{}' of '{}': its extent is not constant", leaf->name(),
                  stage.name());
    }
  }

  // The inner part of a split by a factor has a constant extent, whatever the axis is. A relation
  // precedes the relations of its parts, so one backward walk finds every relation from which the
  // axis derives.
  static bool has_constant_extent(const Stage& stage, const IterVar& axis) {
    std::vector<IterVar> open{axis};  // axes whose extents must be constant
    const auto take = [&](const IterVar& part) {
      return std::erase_if(open, [&](const IterVar& each) { return each.same_as(part); }) > 0;
    };
    for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
      if (const auto* split = std::get_if<SplitRelation>(&*r)) {
        const bool inner = take(split->inner), outer = take(split->outer);
        if ((inner && split->factor <= 0) || (outer && split->nparts <= 0)) {
          open.push_back(split->parent);
        }
      } else if (const auto& fuse = std::get<FuseRelation>(*r); take(fuse.fused)) {
        open.insert(open.end(), {fuse.outer, fuse.inner});
      }
    }
    return std::all_of(open.begin(), open.end(), [](const IterVar& root) {
      return root->extent && int_value(root->extent) != nullptr;
    });
  }

  // Reports a thread tag, or an axis of virtual threads, that two loops of the stage are bound to.
  void check_threads(const Stage& stage) {
    std::vector<IterVar> seen;
    for (const IterVar& leaf : stage.leaves) {
      const IterVar thread = thread_of(s_, {stage.id, leaf});
      if (!thread) continue;
      const bool twice = std::any_of(seen.begin(), seen.end(), [&](const IterVar& other) {
        return is_one_thread_axis(thread, other);
      });
      if (twice) {
        sink_.error(stage.attributes_of(leaf)->location, Code::NestedThread,
                    "bind each thread axis to one axis of a stage, or fuse the axes",
                    "two axes of '{}' are bound to {}: '{}' is the second", stage.name(),
                    thread->name(), leaf->name());
      }
      seen.push_back(thread);
    }
  }

  // The threads that share a reduction synchronize once for each element, so all data loops must be
  // outside the reduction's loops.
  void check_shared_reduction(const Stage& stage) {
    for (const IterVar& leaf : stage.leaves) {
      const IterVar thread = thread_of(s_, {stage.id, leaf});
      if (!thread || leaf->kind != IterKind::Reduction) continue;
      const SourceLocation& where = stage.attributes_of(leaf)->location;
      check_data_outside(stage, leaf, *thread, where);
      if (!is_private(scope_of(s_, stage.id).memory)) continue;
      for (const LoopRef& outer : enclosing_loops(s_, stage.id)) {
        const IterVar other = thread_of(s_, outer);
        if (!other || !is_one_thread_axis(thread, other)) continue;
        sink_.error(
            where, Code::ThreadReductionOrder,
            "attach it outside of that loop, or set its scope to \"shared\"",
            "the reduction axis '{}' of '{}' is bound to {}, but '{}' is computed inside a loop of "
            "'{}' over the same threads, each of which needs its own elements",
            leaf->name(), stage.name(), thread->name(), stage.name(), s_.stage(outer.stage).name());
      }
    }
  }

  void check_data_outside(const Stage& stage, const IterVar& reduction, const IterVarNode& thread,
                          const SourceLocation& where) {
    bool inside = false;
    for (const IterVar& leaf : stage.leaves) {
      inside = inside || leaf->kind == IterKind::Reduction;
      if (!inside || !comes_from_data(stage, leaf)) continue;
      sink_.error(where, Code::ThreadReductionOrder,
                  "reorder the axes so that all data axes are outside of the reduction",
                  "the reduction axis '{}' of '{}' is bound to {}, but the data axis '{}' is "
                  "nested inside a reduction loop",
                  reduction->name(), stage.name(), thread.name(), leaf->name());
      return;
    }
  }

  // store_predicate.h checks the threads that a predicate names, once their extents are known.
  void check_predicate(const Stage& stage) {
    if (!stage.predicate) return;
    if (stage.op->is_scan()) {
      sink_.error(stage.predicate_location, Code::BadPredicate,
                  "set it on what the steps compute: s[update].set_store_predicate(condition)",
                  "cannot set a store predicate on the scan '{}': it stores nothing itself",
                  stage.name());
    } else if (stage.op->is_extern()) {
      sink_.error(
          stage.predicate_location, Code::BadPredicate,
          "put the stores of the statement under ib.if_scope(condition)",
          "cannot set a store predicate on the extern '{}': its statement decides what it stores",
          stage.name());
    } else if (is_private(scope_of(s_, stage.id).memory) &&
               !threads_share_reduction(s_, stage.id)) {
      sink_.error(
          stage.predicate_location, Code::BadPredicate,
          "leave the predicate out, or set it on the stage that writes to global memory",
          "cannot set a store predicate on '{}': every thread keeps its result in local memory",
          stage.name());
    }
  }

  // A pipelined stage has to be attached to a sequential loop, to run ahead of the loop's
  // iterations.
  void check_pipeline(const Stage& stage) {
    if (!stage.pipeline) return;
    const SourceLocation& where = stage.pipeline->location;
    if (stage.attachment.kind != AttachKind::At) {
      sink_.error(
          where, Code::CannotPipeline,
          "attach it to a loop of a stage that reads it: s[cache].compute_at(s[reader], axis)",
          "'{}' is pipelined, but is not attached to a loop that it could run ahead of",
          stage.name());
      return;
    }
    const Stage& host = s_.stage(stage.attachment.stage);
    const IterVar loop = leaf_of(host, stage.attachment.axis);
    const AxisAttributes* attributes = host.attributes_of(loop);
    const LoopKind kind = attributes == nullptr ? LoopKind::Serial : attributes->loop;
    if (!is_sequential(kind)) {
      sink_.error(where, Code::CannotPipeline, "attach it to a loop that is serial or unrolled",
                  "'{}' is pipelined, but the loop '{}' of '{}', to which it is attached, is not "
                  "sequential",
                  stage.name(), loop->name(), host.name());
    }
    if (host.op->is_scan() && stage.scan == host.id) {
      sink_.error(where, Code::CannotPipeline, "attach it to a loop of the update",
                  "'{}' is pipelined, but a step of the scan '{}' reads values that the previous "
                  "step computes",
                  stage.name(), host.name());
    }
    // A double-buffered stage moves the last iteration out of the loop, where the pipeline does not
    // reach it.
    for (const StageId doubled : double_buffered_at(s_, {host.id, loop})) {
      sink_.error(where, Code::CannotPipeline, "pipeline both, or neither of them",
                  "'{}' is pipelined at the loop '{}' of '{}', where '{}' is double-buffered",
                  stage.name(), loop->name(), host.name(), s_.stage(doubled).name());
    }
  }

  const Schedule& s_;
  DiagnosticSink& sink_;
};

}  // namespace

void check_loops(const Lowering& lowering, const Stage& stage, DiagnosticSink& sink) {
  LoopChecker(lowering, sink).run(stage);
}

}  // namespace texloom::lower
