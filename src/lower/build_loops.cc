#include "lower/build_loops.h"

#include <algorithm>

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
      const Stmt own = make_nest(buffers(*id).front(), nest(*id), s_.stage(*id).op->location);
      body = allocated(*id, make_seq({own, body}));
    }
    return body;
  }

 private:
  const StageBounds& bounds_of(StageId id) const { return bounds_.stages[static_cast<size_t>(id)]; }
  // One for each output of the stage.
  const std::vector<Buffer>& buffers(StageId id) const {
    const std::vector<Buffer>& own = buffers_.of_stage[static_cast<size_t>(id)];
    TL_CHECK(own.front(), s_.stage(id).name() + " has no buffer: the schedule was not checked");
    return own;
  }

  // The body, within which those of the stage's buffers live that are no parameters.
  Stmt allocated(StageId id, Stmt body) const {
    const std::vector<Buffer>& own = buffers(id);
    for (auto buffer = own.rbegin(); buffer != own.rend(); ++buffer) {
      if (buffers_.is_param(*buffer)) continue;
      body = make_allocate(*buffer, std::move(body), s_.stage(id).op->location);
    }
    return body;
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
      body = allocated(*id, make_seq({nest(*id), body}));
    }
    return body;
  }

  // One point of the stage; of a reduction, one step.
  Stmt update(StageId id) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_of(id);
    const auto* reduce = as<Reduce>(stage.op->body);
    const Exprs values = reduce == nullptr ? reads(values_of(stage.op->body), b)
                                           : combined(id, *reduce, reads(reduce->sources, b));
    std::vector<Expr> guards;
    bool anywhere = true;
    if (reduce != nullptr) {
      guards.insert(guards.end(), b.reduction_guards.begin(), b.reduction_guards.end());
      if (reduce->condition) {
        guards.push_back(reads(reduce->condition, b));
        anywhere = may_run_anywhere(id, {guards.back()});
      }
    }
    if (!anywhere || !may_run_anywhere(id, values))
      guards.insert(guards.begin(), b.guards.begin(), b.guards.end());
    return guarded(guards, stores(id, values, reduce != nullptr));
  }

  // The partial results after one more step.
  Exprs combined(StageId id, const Reduce& reduce, const Exprs& sources) const {
    Substitution operands;
    for (size_t i = 0; i < sources.size(); ++i) {
      operands.emplace(reduce.reducer.lhs[i], make_load(buffers(id)[i], bounds_of(id).position,
                                                        s_.stage(id).op->location));
      operands.emplace(reduce.reducer.rhs[i], sources[i]);
    }
    Exprs values;
    for (const Expr& result : reduce.reducer.results)
      values.push_back(substitute(result, operands));
    return values;
  }

  // A value for each output, at the point of the loops. Values that read what the stores write are
  // all computed before the first store.
  Stmt stores(StageId id, Exprs values, bool read_outputs) const {
    const SourceLocation& where = s_.stage(id).op->location;
    const bool lets = read_outputs && values.size() > 1;
    const Exprs computed = values;
    Stmts list;
    for (size_t i = 0; i < values.size(); ++i) {
      const Buffer& own = buffers(id)[i];
      if (lets) values[i] = make_var(own->name + ".next", values[i]->type, where);
      list.push_back(make_store(own, bounds_of(id).position, values[i], where));
    }
    Stmt body = make_seq(std::move(list));
    for (size_t i = values.size(); lets && i-- > 0;) {
      body = make_let(values[i], computed[i], std::move(body), where);
    }
    return body;
  }

  // What the reduction starts from, over the data loops at and inside `position`, with variables
  // of their own.
  Stmt initialisation(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_of(id);
    const auto& reduce = *as<Reduce>(stage.op->body);
    const Exprs start = reduce.init.empty() ? reduce.reducer.identities : reads(reduce.init, b);
    Stmt body = stores(id, start, false);
    if (!may_run_anywhere(id, start)) body = guarded(b.guards, body);
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
  // keeps for itself there, and neither computing nor storing it can fault.
  bool may_run_anywhere(StageId id, const Exprs& values) const {
    const BufferNode& own = *buffers(id).front();  // its outputs all lie alike
    if (own.memory != MemoryScope::Local) return false;
    bool safe = is_inside(own, bounds_of(id).position);
    for (const Expr& value : values) {
      walk(
          value,
          [&](const Load& n) {
            safe = safe && (n.buffer->is_texture() || is_inside(*n.buffer, n.indices));
          },
          [&](const Binary& n) { safe = safe && !division_may_fail(n); });
    }
    return safe;
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
      const std::vector<Expr>& min = bounds_of(source).min;
      Exprs indices = n.indices;
      for (size_t i = 0; i < indices.size(); ++i) {
        if (indices[i]->type != kInt32) indices[i] = make_cast(kInt32, indices[i]);
        if (i < min.size()) indices[i] = indices[i] - min[i];
        indices[i] = arith::simplify(indices[i], bounds_.ranges);
      }
      const Buffer& buffer = buffers(source)[static_cast<size_t>(n.tensor->output)];
      return make_load(buffer, std::move(indices), n.location);
    });
  }
  Exprs reads(const Exprs& list, const StageBounds& b) {
    Exprs values;
    for (const Expr& e : list) values.push_back(reads(e, b));
    return values;
  }

  const Schedule& s_;
  const Bounds& bounds_;
  const StageBuffers& buffers_;
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
