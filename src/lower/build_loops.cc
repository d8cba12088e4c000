#include "lower/build_loops.h"

#include <algorithm>
#include <map>

#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/visit.h"
#include "lower/stage_buffers.h"
#include "schedule/attach.h"
#include "schedule/bounds.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

class Builder {
 public:
  Builder(const Schedule& s, const Bounds& bounds, const StageBuffers& buffers)
      : s_(s), bounds_(bounds), buffers_(buffers) {}

  // All root stages in order, temporaries around all that follows their own nest.
  Stmt program_body() {
    std::vector<StageId> roots;
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      if (!stage.op->is_placeholder() && stage.attachment.kind == AttachKind::Root) {
        roots.push_back(id);
      }
    }
    Stmt body = make_empty();
    for (auto id = roots.rbegin(); id != roots.rend(); ++id) {
      const Stmt own = make_nest(buffer(*id), nest(*id), s_.stage(*id).op->location);
      body = make_seq({own, body});
      if (buffers_.is_param(*id)) continue;
      body = make_allocate(buffer(*id), body, s_.stage(*id).op->location);
    }
    return body;
  }

 private:
  const StageBounds& bounds_of(StageId id) const { return bounds_.stages[static_cast<size_t>(id)]; }
  const Buffer& buffer(StageId id) const {
    const Buffer& own = buffers_.of_stage[static_cast<size_t>(id)];
    TL_CHECK(own, s_.stage(id).name() + " has no buffer: the schedule was not prepared or checked");
    return own;
  }

  Stmt nest(StageId id) { return loops_from(id, 0); }

  // The loops from this position inwards, with what is attached to them.
  Stmt loops_from(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_of(id);
    if (position == first_reduction(b) && !stage.op->reduce_axes.empty()) {
      return make_seq({initialisation(id, position), loops_inside(id, position)});
    }
    return loops_inside(id, position);
  }

  Stmt loops_inside(StageId id, size_t position) {
    const StageBounds& b = bounds_of(id);
    if (position == b.loops.size()) return update(id);
    const LeafLoop& loop = b.loops[position];
    const Stmt body = with_attached(id, loop.axis, loops_from(id, position + 1));
    return make_loop(s_.stage(id), loop.axis, loop.var, loop.extent, body);
  }

  static size_t first_reduction(const StageBounds& b) {
    size_t i = 0;
    while (i < b.loops.size() && b.loops[i].axis->kind != IterKind::Reduction) ++i;
    return i;
  }

  static Stmt make_loop(const Stage& stage, const IterVar& axis, const Expr& var, int64_t extent,
                        Stmt body) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    const Expr count = make_int(extent);
    if (attributes == nullptr) {
      return make_for(var, count, LoopKind::Serial, std::move(body), axis->location);
    }
    if (attributes->loop == LoopKind::Thread) {
      return make_thread_for(var, count, attributes->thread->tag, std::move(body),
                             attributes->location);
    }
    return make_for(var, count, attributes->loop, std::move(body), attributes->location);
  }

  // Producers before readers at the start of the loop's body.
  Stmt with_attached(StageId host, const IterVar& axis, Stmt body) {
    const std::vector<StageId>& order = s_.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Attachment& at = s_.stage(*id).attachment;
      if (at.kind != AttachKind::At || at.stage != host) continue;
      if (!leaf_of(s_.stage(host), at.axis).same_as(axis)) continue;
      body = make_allocate(buffer(*id), make_seq({filled(*id), body}), s_.stage(*id).op->location);
    }
    return body;
  }

  Stmt filled(StageId id) {
    const std::optional<Pipeline>& pipeline = s_.stage(id).pipeline;
    if (!pipeline) return nest(id);
    return make_pipelined(buffer(id), pipeline->stages, nest(id), pipeline->location);
  }

  // One point of the stage; of a reduction, one step.
  Stmt update(StageId id) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_of(id);
    Expr value;
    std::vector<Expr> guards;
    bool anywhere = true;
    if (const auto* reduce = as<Reduce>(stage.op->body)) {
      const Expr partial = make_load(buffer(id), b.position, stage.op->location);
      value = substitute(reduce->reducer.result, {{reduce->reducer.lhs, partial},
                                                  {reduce->reducer.rhs, reads(reduce->source, b)}});
      guards.insert(guards.end(), b.reduction_guards.begin(), b.reduction_guards.end());
      if (reduce->condition) {
        guards.push_back(reads(reduce->condition, b));
        anywhere = may_run_anywhere(id, guards.back());
      }
    } else {
      value = reads(stage.op->body, b);
    }
    if (!anywhere || !may_run_anywhere(id, value))
      guards.insert(guards.begin(), b.guards.begin(), b.guards.end());
    return guarded(guards, make_store(buffer(id), b.position, value, stage.op->location));
  }

  // The identity, over the data loops at and inside `position`, with variables of their own.
  Stmt initialisation(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_of(id);
    const Reducer& reducer = as<Reduce>(stage.op->body)->reducer;
    Stmt body = make_store(buffer(id), b.position, reducer.identity, stage.op->location);
    if (!may_run_anywhere(id, reducer.identity)) body = guarded(b.guards, body);
    Substitution renamed;
    std::vector<LeafLoop> loops;
    for (size_t i = position; i < b.loops.size(); ++i) {
      if (b.loops[i].axis->kind == IterKind::Reduction) continue;
      loops.push_back(b.loops[i]);
      loops.back().var = make_var(b.loops[i].axis->name() + ".init");
      renamed.emplace(b.loops[i].var, loops.back().var);
    }
    body = substitute(body, renamed);
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      body = make_loop(stage, loop->axis, loop->var, loop->extent, body);
    }
    return body;
  }

  // Whether a point outside the tensor may be computed all the same: nobody reads what a thread
  // keeps for itself there, and neither computing nor storing it can fault. What is computed from
  // may be any value but one that was never written: a device's compiler takes it that a private
  // variable is not read then, and what follows of it.
  bool may_run_anywhere(StageId id, const Expr& value) {
    if (buffer(id)->memory != MemoryScope::Local) return false;
    bool safe = is_inside(*buffer(id), bounds_of(id).position);
    walk(
        value,
        [&](const Load& n) {
          safe = safe && (n.buffer->is_texture() || is_inside(*n.buffer, n.indices)) &&
                 (n.buffer.same_as(buffer(id)) || is_written_everywhere(n.buffer));
        },
        [&](const Binary& n) { safe = safe && !division_may_fail(n); });
    return safe;
  }

  // Of a buffer that a thread keeps for itself: whether no guard leaves out an element.
  bool is_written_everywhere(const Buffer& b) {
    if (b->memory != MemoryScope::Local) return true;
    const auto of_stage = std::find_if(s_.order().begin(), s_.order().end(), [&](StageId id) {
      return b.same_as(buffers_.of_stage[static_cast<size_t>(id)]);
    });
    const StageBounds& bounds = bounds_of(*of_stage);
    if (bounds.guards.empty()) return true;
    const Expr& body = s_.stage(*of_stage).op->body;
    const auto* reduce = as<Reduce>(body);
    const auto [known, added] = written_everywhere_.try_emplace(*of_stage, false);
    if (added) {
      const Expr first = reduce != nullptr ? reduce->reducer.identity : reads(body, bounds);
      known->second = may_run_anywhere(*of_stage, first);
    }
    return known->second;
  }

  bool is_inside(const BufferNode& b, const Exprs& indices) const {
    for (size_t i = 0; i < indices.size(); ++i) {
      const arith::Interval range = arith::bounds(indices[i], bounds_.ranges);
      if (!range.within(0, b.shape[i] - 1)) return false;
    }
    return true;
  }

  static Stmt guarded(const std::vector<Expr>& guards, Stmt store) {
    Expr all = make_bool(true);
    for (const Expr& guard : guards) all = all && guard;
    return make_if(all, std::move(store));
  }

  // The expression at this point of the loops, reading buffers.
  Expr reads(const Expr& e, const StageBounds& b) {
    return rewrite(substitute(e, b.index), [&](const TensorRead& n, const Expr&) {
      const StageId source = s_.producer(n.tensor);
      const StageBounds& of_source = bounds_of(source);
      Exprs indices = n.indices;
      for (size_t i = 0; i < indices.size(); ++i) {
        if (indices[i]->type != kInt32) indices[i] = make_cast(kInt32, indices[i]);
        if (i < of_source.min.size()) {
          const Expr offset = arith::simplify(indices[i] - of_source.min[i], bounds_.ranges);
          indices[i] = of_source.strides[i].place_of(offset);
        }
        indices[i] = arith::simplify(indices[i], bounds_.ranges);
      }
      return make_load(buffer(source), std::move(indices), n.location);
    });
  }

  const Schedule& s_;
  const Bounds& bounds_;
  const StageBuffers& buffers_;
  std::map<StageId, bool> written_everywhere_;  // of those that were asked for
};

}  // namespace

void build_loops(Lowering& lowering) {
  const Bounds bounds = infer_bounds(lowering.schedule);
  const StageBuffers buffers = make_stage_buffers(lowering, bounds);
  lowering.program.params = buffers.params;
  lowering.array_layouts = array_layouts(lowering, buffers);
  lowering.program.body = Builder(lowering.schedule, bounds, buffers).program_body();
}

}  // namespace texloom::lower
