#include "lower/build/build_loops.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "lower/barriers/group_of_blocks.h"
#include "lower/barriers/insert_barriers.h"
#include "lower/barriers/scan_barriers.h"
#include "lower/build/argument_copies.h"
#include "lower/build/auto_unroll.h"
#include "lower/build/foreign_code.h"
#include "lower/build/leaf_loops.h"
#include "lower/build/stage_accesses.h"
#include "lower/build/stage_buffers.h"
#include "lower/build/stage_kernels.h"
#include "lower/build/stage_results.h"
#include "lower/build/store_predicate.h"
#include "lower/build/tensorize.h"
#include "lower/build/thread_reduction.h"
#include "lower/hints/pragma_number.h"
#include "lower/hints/prefetch.h"
#include "lower/schedule/check_reads.h"
#include "lower/schedule/check_symbols.h"
#include "lower/schedule/double_buffers.h"
#include "lower/schedule/vectorize_texels.h"
#include "schedule/attach.h"
#include "schedule/bounds/array_extents.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/bounds/bounds.h"
#include "schedule/operation/extern_operation.h"
#include "schedule/stage_links.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class Builder {
 public:
  Builder(Lowering& lowering, const Bounds& bounds, const StageBuffers& buffers)
      : s_(lowering.schedule),
        target_(lowering.target),
        bounds_(bounds),
        buffers_(buffers),
        accesses_(lowering.schedule, bounds, buffers, lowering.target.checked),
        links_(links_of(lowering.schedule)),
        loops_(lowering.schedule, bounds, lowering.warnings),
        warnings_(lowering.warnings) {}

  // Builds the nests of all root stages in order.
  void build(Program& program) {
    Stmts nests;
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      if (stage.op->is_placeholder() || stage.attachment.kind != AttachKind::Root) continue;
      nests.push_back(root(id));
      const std::vector<Buffer> own = allocations(id);
      program.temporaries.insert(program.temporaries.end(), temporaries_.begin(),
                                 temporaries_.end());
      temporaries_.clear();
      program.temporaries.insert(program.temporaries.end(), own.begin(), own.end());
    }
    program.body = make_seq(std::move(nests));
  }

 private:
  // The buffers that the stage allocates: all its buffers except parameters and buffers that
  // another stage writes first.
  std::vector<Buffer> allocations(StageId id) const {
    std::vector<Buffer> own = accesses_.buffers(id);
    std::erase_if(own,
                  [&](const Buffer& b) { return buffers_.is_param(b) || !buffers_.begins(id, b); });
    return own;
  }

  // Allocates the stage's buffers around the body.
  Stmt allocated(StageId id, Stmt body) const {
    const std::vector<Buffer> own = allocations(id);
    for (auto buffer = own.rbegin(); buffer != own.rend(); ++buffer) {
      body = make_allocate(*buffer, std::move(body), s_.stage(id).op->location);
    }
    return body;
  }

  Stmt root(StageId id) {
    const Operation& op = *s_.stage(id).op;
    if (op.is_scan()) return steps_of_scan(id);
    if (!op.is_extern()) {
      const Stmt loops = nest(id);
      return stage_kernels(s_, buffers_, id, loops, std::exchange(parts_, {}));
    }
    std::vector<Buffer> reads;
    for (const ExternInput& input : op.reads) {
      reads.push_back(
          accesses_.buffers(s_.producer(input.tensor))[static_cast<size_t>(input.tensor->output)]);
    }
    return insert_nest_barriers(nests_of(op, reads, accesses_.buffers(id)), target_);
  }

  // All steps run in one kernel, unless blocks read from one another or the stages of a step
  // exchange values in global memory: then each step becomes one launch or several.
  Stmt steps_of_scan(StageId id) {
    const Expr& step = bounds_.of(id).loops.front().var;
    const ScanResults results{s_.stage(id).name(), step, accesses_.buffers(id), bounds_.ranges};
    const Stmt loops = nest(id);
    const ScanWithBarriers steps = insert_scan_barriers(loops, results);
    const std::vector<Buffer> parts = std::exchange(parts_, {});
    if (!steps.across_blocks && !allocates_global_memory(loops)) {
      return one_kernel(s_, buffers_, id, steps.loops, parts);
    }
    const Stmt launches = stage_kernels(s_, buffers_, id, loops, parts);
    const bool unordered =
        is_kernel_loop(launches, step) || exchanges_across_blocks(launches, results);
    if (steps.across_blocks && unordered) throw UserError({*steps.across_blocks});
    return insert_nest_barriers(launches, target_);
  }

  Stmt nest(StageId id) { return loops_from(id, 0); }

  // Builds the loops from this position inwards, with the stages that are attached to them.
  Stmt loops_from(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_.of(id);
    const bool reduces = position == first_reduction(b) && !stage.op->reduce_axes.empty();
    if (reduces && tensorized_loop(stage, b) != position) {
      if (threads_share_reduction(s_, id)) return across_threads(id, position);
      return make_seq({initialization(id, position), loops_inside(id, position)});
    }
    return loops_inside(id, position);
  }

  Stmt loops_inside(StageId id, size_t position) {
    const StageBounds& b = bounds_.of(id);
    if (position == tensorized_loop(s_.stage(id), b)) return intrinsic(id).step;
    if (position == b.loops.size()) return update(id);
    const LeafLoop& loop = b.loops[position];
    const std::vector<StageId> doubled = double_buffered_at(s_, {id, loop.axis});
    const Stmt whole = doubled.empty() ? loops_.around(id, loop, body_of(id, position, {}))
                                       : ahead_by_one(id, position, doubled);
    return apply_unroll_pragmas(s_.stage(id), loop.axis, whole);
  }

  // Builds the body of the loop, without the stages that are computed elsewhere.
  Stmt body_of(StageId id, size_t position, const std::vector<StageId>& elsewhere) {
    const IterVar& axis = bounds_.of(id).loops[position].axis;
    return with_prefetches(id, position,
                           with_attached(id, axis, loops_from(id, position + 1), elsewhere));
  }

  // Prefetches of the pragmas of this loop, on processors; devices ignore them.
  Stmt with_prefetches(StageId id, size_t position, Stmt body) const {
    if (target_.kind != TargetKind::Llvm) return body;
    const Stage& stage = s_.stage(id);
    const LeafLoop& loop = bounds_.of(id).loops[position];
    for (const Pragma& pragma : stage.pragmas) {
      const std::optional<std::string> tensor = prefetched_tensor(pragma);
      if (!tensor || !pragma.axis.same_as(loop.axis)) continue;
      const PrefetchHint hint{pragma, pragma_number(stage, pragma), buffers_named(*tensor)};
      body = prefetched(stage, loop, hint, std::move(body), bounds_.ranges, warnings_);
    }
    return body;
  }

  // The buffers of tensors of this name.
  std::vector<Buffer> buffers_named(const std::string& name) const {
    std::vector<Buffer> found;
    for (const StageId id : s_.order()) {
      const std::vector<Buffer>& own = buffers_.of_stage[static_cast<size_t>(id)];
      for (const Tensor& t : outputs_of(s_.stage(id).op)) {
        const Buffer& buffer = own[static_cast<size_t>(t->output)];
        if (t->name == name && buffer) found.push_back(buffer);
      }
    }
    return found;
  }

  // Builds a loop with double-buffered stages: each iteration computes the values of the next
  // iteration, into the buffer that it does not read itself. The last iteration follows the loop.
  // If the loop may have no iteration, the last one stays inside, with a condition around what it
  // would compute ahead: barriers between iterations are then in a loop, not in a branch.
  Stmt ahead_by_one(StageId id, size_t position, const std::vector<StageId>& doubled) {
    const LeafLoop& loop = bounds_.of(id).loops[position];
    for (const StageId each : doubled) accesses_.use_slot(each, floormod(loop.var, 2));
    Stmts nests;
    for (const StageId each : doubled) nests.push_back(nest(each));
    const Stmt produce = make_seq(std::move(nests));
    const Stmt consume = body_of(id, position, doubled);
    const auto at = [&](const Stmt& s, const Expr& iteration) {
      return substitute(s, {{loop.var, iteration}});
    };
    const auto allocated_around = [&](Stmt whole) {
      for (const StageId each : doubled) whole = allocated(each, std::move(whole));
      return whole;
    };
    const Expr runs = loop.end >= make_int(1);
    if (!arith::prove(runs, ranges_of_symbols(schedule::array_extents(s_)))) {
      const Stmt ahead = make_if(loop.var + 1 < loop.end, at(produce, loop.var + 1));
      return allocated_around(make_seq({make_if(runs, at(produce, make_int(0))),
                                        loops_.around(id, loop, make_seq({ahead, consume}))}));
    }
    LeafLoop all_but_last = loop;
    all_but_last.end = arith::simplify(loop.end - 1, bounds_.ranges);
    Stmts statements{at(produce, make_int(0))};
    if (!is_int(all_but_last.end, 0)) {
      statements.push_back(
          loops_.around(id, all_but_last, make_seq({at(produce, loop.var + 1), consume})));
    }
    statements.push_back(at(consume, all_but_last.end));
    return allocated_around(make_seq(std::move(statements)));
  }

  static size_t first_reduction(const StageBounds& b) {
    size_t i = 0;
    while (i < b.loops.size() && b.loops[i].axis->kind != IterKind::Reduction) ++i;
    return i;
  }

  // Builds the reduction from `position` on: the steps of each thread, then the combination across
  // threads.
  Stmt across_threads(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_.of(id);
    const ThreadReduction reduction(stage, b, groups(id), sharing_threads(s_, bounds_, id));
    const ResultElement& parts = reduction.parts;
    parts_.insert(parts_.end(), parts.buffers.begin(), parts.buffers.end());
    part_of_.emplace(id, reduction.part);
    const Stmt steps = loops_inside(id, position);
    const auto& reduce = *as<Reduce>(stage.op->body);
    Exprs result = reduction.result();
    if (!reduce.init.empty())
      result = combined(reduction.reducer, accesses_.reads(reduce.init, b), result);
    Stmt store = stores(accesses_.element_of(id), result, false, stage.op->location);
    if (!accesses_.may_run_anywhere(id, result)) store = guarded(b.guards, store);
    const Stmt start =
        stores(reduction.part, reduction.reducer.identities, false, stage.op->location);
    // Every thread keeps its own copy of a result in private memory.
    const bool own_copy = is_private(scope_of(s_, id).memory);
    if (!own_copy) store = reduction.stored(stage, store);
    Stmt body = make_seq({start, steps, reduction.combination(), store});
    for (const Buffer& part : reduction.part.buffers) {
      body = make_allocate(part, std::move(body), stage.op->location);
    }
    return body;
  }

  // The enclosing loops over other threads of the block, including virtual threads, without
  // duplicates.
  std::vector<ThreadLoop> groups(StageId id) const {
    std::vector<IterVar> seen = reduction_threads(s_, id);
    std::vector<ThreadLoop> found;
    for (const LoopRef& ref : all_loops(s_, id)) {
      const IterVar thread = thread_of(s_, ref);
      if (!thread || thread->tag.block) continue;
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const IterVar& other) {
        return is_one_thread_axis(thread, other);
      });
      if (known) continue;
      seen.push_back(thread);
      const LeafLoop& loop = bounds_.of(ref.stage).loop_of(ref.leaf);
      const SourceLocation& where = s_.stage(ref.stage).attributes_of(ref.leaf)->location;
      found.push_back({loop.var, thread_count(loop, where), thread->tag, {}});
    }
    return found;
  }

  // Puts the attached stages in front of the body of the loop, producers before readers.
  Stmt with_attached(StageId host, const IterVar& axis, Stmt body,
                     const std::vector<StageId>& elsewhere) {
    const std::vector<StageId>& attached = links_.attached_to(host);
    for (auto id = attached.rbegin(); id != attached.rend(); ++id) {
      if (!leaf_of(s_.stage(host), s_.stage(*id).attachment.axis).same_as(axis)) continue;
      if (std::find(elsewhere.begin(), elsewhere.end(), *id) != elsewhere.end()) continue;
      if (is_divided_among_blocks(s_, *id)) {
        for (const Buffer& part : allocations(*id)) temporaries_.push_back(part);
        body = make_seq({filled(*id), copied(*id), in_last_block(*id, std::move(body))});
        continue;
      }
      body = allocated(*id, make_seq({filled(*id), copied(*id), body}));
    }
    return body;
  }

  // What follows a stage that blocks share out, in the last of them.
  Stmt in_last_block(StageId id, Stmt body) {
    const GroupOfBlocks group = group_of_blocks(s_, bounds_, id);
    temporaries_.push_back(group.counters);
    const SourceLocation& where = s_.stage(id).attachment.location;
    return make_allocate(group.flag,
                         make_last_block(group.counters, group.index, group.count, group.flag,
                                         std::move(body), where),
                         where);
  }

  Stmt copied(StageId id) const {
    return copies_to_arguments(s_, bounds_, id, accesses_.buffers(id),
                               buffers_.copies[static_cast<size_t>(id)]);
  }

  Stmt filled(StageId id) {
    const std::optional<Pipeline>& pipeline = s_.stage(id).pipeline;
    if (!pipeline) return nest(id);
    return make_pipelined(accesses_.buffers(id).front(), pipeline->stages, pipeline->is_async,
                          nest(id), pipeline->location);
  }

  // Computes one point of the stage; for a reduction, one step.
  Stmt update(StageId id) {
    const Stage& stage = s_.stage(id);
    if (stage.op->is_scan()) return make_empty();  // the steps of a scan are attached to its loop
    const StageBounds& b = bounds_.of(id);
    const auto* reduce = as<Reduce>(stage.op->body);
    const SourceLocation& where = stage.op->location;
    const auto own_part = part_of_.find(id);
    const ResultElement element =
        own_part == part_of_.end() ? accesses_.element_of(id) : own_part->second;
    const Exprs values = reduce == nullptr
                             ? accesses_.reads(values_of(stage.op->body), b)
                             : combined(substitute(reduce->reducer, b.index), loads(element, where),
                                        accesses_.reads(reduce->sources, b));
    std::vector<Expr> guards;
    bool anywhere = true;
    if (reduce != nullptr) {
      guards.insert(guards.end(), b.reduction_guards.begin(), b.reduction_guards.end());
      if (reduce->condition) {
        guards.push_back(accesses_.reads(reduce->condition, b));
        anywhere = accesses_.may_run_anywhere(id, {guards.back()}) &&
                   accesses_.may_decide_anywhere(guards.back());
      }
    }
    if (!anywhere || !accesses_.may_run_anywhere(id, values))
      guards.insert(guards.begin(), b.guards.begin(), b.guards.end());
    return guarded(guards, stores(element, values, reduce != nullptr, where));
  }

  // The statements that replace the loops from the tensorized one on.
  TensorizedLoops intrinsic(StageId id) {
    const auto read = [&](const Expr& e, const StageBounds& b) { return accesses_.reads(e, b); };
    const auto result = [&](const StageBounds& b) {
      return ResultElement{accesses_.buffers(id), accesses_.in_slot(id, b.position)};
    };
    return tensorized(s_, id, bounds_, {read, result});
  }

  // Stores the initial values of a reduction, in copies of the data loops from `position` inwards.
  Stmt initialization(StageId id, size_t position) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_.of(id);
    const size_t end = tensorized_loop(stage, b).value_or(b.loops.size());
    Stmt body = end < b.loops.size() ? intrinsic(id).reset : started(id);
    if (is_empty(body)) return body;
    Substitution renamed;
    std::vector<LeafLoop> loops;
    for (size_t i = position; i < end; ++i) {
      if (!comes_from_data(stage, b.loops[i].axis)) continue;
      loops.push_back(b.loops[i]);
      loops.back().var = make_var(b.loops[i].axis->name() + ".init");
      renamed.emplace(b.loops[i].var, loops.back().var);
    }
    body = substitute(body, renamed);
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      body = loops_.around(id, *loop, body);
    }
    return body;
  }

  // Stores one initial value.
  Stmt started(StageId id) {
    const Stage& stage = s_.stage(id);
    const StageBounds& b = bounds_.of(id);
    const Exprs start = accesses_.start_of(*as<Reduce>(stage.op->body), b);
    const Stmt body = stores(accesses_.element_of(id), start, false, stage.op->location);
    return accesses_.may_run_anywhere(id, start) ? body : guarded(b.guards, body);
  }

  const Schedule& s_;
  const Target& target_;
  const Bounds& bounds_;
  const StageBuffers& buffers_;
  StageAccesses accesses_;
  const StageLinks links_;
  LeafLoops loops_;
  std::vector<Diagnostic>& warnings_;
  // Partial results of reductions that threads share.
  std::unordered_map<StageId, ResultElement> part_of_;
  std::vector<Buffer> parts_;  // partial results of reductions of this root stage
  // Global memory that attached stages of this root stage need.
  std::vector<Buffer> temporaries_;
};

}  // namespace

void build_nests(Lowering& lowering) {
  Bounds bounds = infer_checked_bounds(lowering.schedule);
  index_whole_arrays(lowering, bounds);
  check_computed_lanes(lowering.schedule, bounds);
  for (const StageId id : lowering.schedule.order()) {
    check_store_predicate(lowering.schedule, bounds, id);
  }
  const StageBuffers buffers = make_stage_buffers(lowering, bounds);
  lowering.program.symbols = symbols_of(lowering);
  lowering.program.foreign = foreign_code(lowering.schedule);
  lowering.program.params = buffers.params;
  lowering.array_layouts = array_layouts(lowering, buffers);
  Builder(lowering, bounds, buffers).build(lowering.program);
}

}  // namespace texloom::lower
