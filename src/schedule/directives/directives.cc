// The directives on loops: split, fuse, reorder, bind, annotations and attachment. Each directive
// checks its own arguments.

#include <algorithm>
#include <map>

#include "ir/visit.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/derived_axes.h"
#include "schedule/ignored_annotation.h"
#include "schedule/schedule.h"
#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// i.j.fused; just "fused" if that is too long, since alternating splits and fusions double it.
std::string fused_name(const IterVarNode& outer, const IterVarNode& inner) {
  constexpr size_t kLongestName = 1000;
  const std::string& first = outer.name();
  const bool too_long = first.size() + inner.name().size() > kLongestName;
  return (too_long ? "" : first + "." + inner.name() + ".") + "fused";
}

constexpr std::string_view kTensorizeLast =
    "call tensorize last: split the axis before it, bind the outer part, tensorize the inner one";

// Splitting or fusing an axis removes its loop, and would lose the threads or the intrinsic
// assigned to it.
void refuse_bound(const Stage& stage, const IterVar& axis, const SourceLocation& where,
                  std::string_view directive) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes == nullptr || (!attributes->thread && !attributes->intrinsic)) return;
  fail(where, Code::BadAnnotation,
       attributes->intrinsic
           ? std::string(kTensorizeLast)
           : fmt::format("{} first, then bind, vectorize or unroll the axes it makes", directive),
       "cannot {} '{}' of '{}': it is already {}", directive, axis->name(), stage.name(),
       annotation(*attributes));
}

// An intrinsic computes the whole loop, so other directives on it are refused.
void refuse_tensorized(const Stage& stage, const IterVar& axis, const SourceLocation& where,
                       std::string_view directive) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes == nullptr || !attributes->intrinsic) return;
  fail(where, Code::BadAnnotation, std::string(kTensorizeLast),
       "cannot {} '{}' of '{}': it is already tensorized", directive, axis->name(), stage.name());
}

// Threads of a block can combine their partial results; blocks and virtual threads cannot.
void check_reduction_bound(const Stage& stage, const IterVar& axis, const IterVar& thread,
                           const SourceLocation& where) {
  if (comes_from_data(stage, axis)) {
    fail(where, Code::ReductionBound, "bind the data axis and the reduction axis separately",
         "cannot bind '{}' to {}: it fuses a data axis with a reduction axis", axis->name(),
         thread->name());
  }
  if (thread->kind == IterKind::Thread && !thread->tag.block) return;
  fail(where, Code::ReductionBound,
       "bind it to threadIdx.x, threadIdx.y or threadIdx.z, or make partial results with rfactor",
       "cannot bind the reduction axis '{}' to {}: results cannot be combined across it",
       axis->name(), thread->name());
}

void check_apart(const IterVar& outer, const IterVar& inner, const SourceLocation& where) {
  if (!outer.same_as(inner)) return;
  fail(where, Code::BadFuse, "name two axes", "cannot fuse '{}' with itself", outer->name());
}

IterVar derived_axis(IterKind kind, const std::string& name, const SourceLocation& where) {
  return make_iter_var(make_var(name, kInt32, where), Expr(), Expr(), kind, where);
}

Schedule::Pair parts_of(const IterVar& parent) {
  return {derived_axis(parent->kind, parent->name() + ".outer", parent->location),
          derived_axis(parent->kind, parent->name() + ".inner", parent->location)};
}

}  // namespace

Stage& Schedule::stage_for(StageId id, const SourceLocation& where, std::string_view directive) {
  Stage& own = stage(id);
  if (own.op->is_placeholder()) {
    fail(where, Code::PlaceholderDirective,
         "call it on the stage of a te.compute, or of a cache_read of the placeholder",
         "cannot apply {} to '{}': it is a placeholder and has no loops to schedule", directive,
         own.name());
  }
  return own;
}

std::string Schedule::fate_of(const Stage& own, const IterVar& axis) const {
  for (const Relation& r : own.relations) {
    const auto* split = std::get_if<SplitRelation>(&r);
    if (split != nullptr && split->parent.same_as(axis)) {
      return fmt::format("has already been split into '{}' and '{}'", split->outer->name(),
                         split->inner->name());
    }
    const auto* fuse = std::get_if<FuseRelation>(&r);
    if (fuse != nullptr && fuse->joins(axis)) {
      return fmt::format("has already been fused into '{}'", fuse->fused->name());
    }
  }
  for (const StageId other : order_) {
    if (!stage(other).is_leaf(axis)) continue;
    return fmt::format("is not an axis of this stage, but of '{}'", stage(other).name());
  }
  return "is not an axis of this stage";
}

size_t Schedule::leaf_position(const Stage& own, const IterVar& axis, const SourceLocation& where,
                               std::string_view directive) const {
  for (size_t i = 0; i < own.leaves.size(); ++i) {
    if (own.leaves[i].same_as(axis)) return i;
  }
  fail(where, Code::ForeignAxis, fmt::format("use a leaf axis of this stage: {}", own.leaf_names()),
       "{} on the stage of '{}': the axis '{}' {}", directive, own.name(), axis->name(),
       fate_of(own, axis));
}

Schedule::Pair Schedule::split(StageId id, const IterVar& parent, std::optional<int64_t> factor,
                               std::optional<int64_t> nparts, const SourceLocation& where,
                               bool exact) {
  const Stage& own = stage_for(id, where, "split");
  leaf_position(own, parent, where, "split");
  if (factor.has_value() == nparts.has_value()) {
    fail(where, Code::BadSplitFactor,
         "give exactly one of factor= and nparts=", "split of '{}' of '{}' {}", parent->name(),
         own.name(),
         factor ? "is given both a factor and nparts" : "is given neither a factor nor nparts");
  }
  const int64_t value = factor ? *factor : *nparts;
  if (value < 1) {
    fail(where, Code::BadSplitFactor, "give a positive constant",
         "cannot split '{}' of '{}': {} = {} is not positive", parent->name(), own.name(),
         factor ? "factor" : "nparts", value);
  }
  const Pair parts = parts_of(parent);
  add_relation(id,
               SplitRelation{parent, parts.outer, parts.inner, factor.value_or(0),
                             nparts.value_or(0), exact},
               where);
  return parts;
}

Schedule::Pair Schedule::split_exactly(StageId id, const IterVar& parent, int64_t factor) {
  const Pair parts = parts_of(parent);
  apply(stage(id), SplitRelation{parent, parts.outer, parts.inner, factor, 0, true});
  return parts;
}

void Schedule::apply(Stage& own, const Relation& relation) {
  replace_operands(own.leaves, relation);
  own.relations.push_back(relation);
  // Pragmas of an operand move to the inner part or to the fused loop.
  const std::vector<IterVar> operands = operands_of(relation);
  const IterVar heir = results_of(relation).back();
  for (const IterVar& operand : operands) {
    for (Pragma& p : own.pragmas) {
      if (p.axis.same_as(operand)) p.axis = heir;
    }
  }
}

void Schedule::add_relation(StageId id, const Relation& relation, const SourceLocation& where) {
  const auto* split = std::get_if<SplitRelation>(&relation);
  Stage& own = stage_for(id, where, split != nullptr ? "split" : "fuse");
  refuse_scan(own, split != nullptr ? "split" : "fuse", where);
  if (split != nullptr) {
    leaf_position(own, split->parent, where, "split");
    refuse_bound(own, split->parent, where, "split");
  } else {
    const auto& [outer, inner, fused] = std::get<FuseRelation>(relation);
    for (const IterVar& axis : {outer, inner}) {
      leaf_position(own, axis, where, "fuse");
      refuse_bound(own, axis, where, "fuse");
    }
    check_apart(outer, inner, where);
  }
  for (const IterVar& axis : operands_of(relation)) own.attributes.erase(axis);
  apply(own, relation);
}

void Schedule::add_unit_axis(StageId id, const IterVar& axis, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "fuse");
  if (own.op->is_extern()) {
    fail(where, Code::ExternPlace, "bind threads in the statement, with ib.scope_attr",
         "cannot fuse '{}': it is an extern and has no loops of its own", own.name());
  }
  refuse_scan(own, "fuse", where);
  own.leaves.insert(own.leaves.begin(), axis);
}

IterVar Schedule::fuse(StageId id, const std::vector<IterVar>& axes, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "fuse");
  if (axes.empty()) {
    const IterVar unit = make_iter_var(make_var("singleton", kInt32, where), make_int(0),
                                       make_int(1), IterKind::Data, where);
    add_unit_axis(id, unit, where);
    return unit;
  }
  // Check all axes first: a refused directive changes nothing.
  for (const IterVar& axis : axes) refuse_bound(own, axis, where, "fuse");
  size_t first = leaf_position(own, axes.front(), where, "fuse"), last = first;
  std::vector<bool> is_outer;
  for (size_t i = 1; i < axes.size(); ++i) {
    const size_t at = leaf_position(own, axes[i], where, "fuse");
    check_apart(axes[i - 1], axes[i], where);
    is_outer.push_back(at + 1 == first);
    if (at + 1 != first && at != last + 1) {
      fail(where, Code::BadFuse, "reorder the axes so that they are adjacent",
           "cannot fuse '{}' and '{}': they are not adjacent", axes[i - 1]->name(),
           axes[i]->name());
    }
    (is_outer.back() ? first : last) = at;
  }
  IterVar fused = axes.front();
  for (size_t i = 1; i < axes.size(); ++i) {
    IterVar outer = fused, inner = axes[i];
    if (is_outer[i - 1]) std::swap(outer, inner);
    // A reduction axis that is fused with a data axis is still a loop of the reduction.
    const IterKind kind = outer->kind == IterKind::Reduction ? IterKind::Reduction : inner->kind;
    fused = derived_axis(kind, fused_name(*outer, *inner), where);
    add_relation(id, FuseRelation{outer, inner, fused}, where);
  }
  return fused;
}

void Schedule::reorder(StageId id, const std::vector<IterVar>& axes, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "reorder");
  std::vector<size_t> places;
  for (const IterVar& axis : axes) {
    const size_t place = leaf_position(own, axis, where, "reorder");
    if (std::find(places.begin(), places.end(), place) != places.end()) {
      fail(where, Code::BadReorder, "name each axis once", "reorder names the axis '{}' twice",
           axis->name());
    }
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 0; i < axes.size(); ++i) own.leaves[places[i]] = axes[i];
}

std::optional<Diagnostic> Schedule::bind(StageId id, const IterVar& axis, const IterVar& thread,
                                         const SourceLocation& where) {
  Stage& own = stage_for(id, where, "bind");
  refuse_scan(own, "bind", where);
  leaf_position(own, axis, where, "bind");
  const bool is_virtual = thread->kind == IterKind::VirtualThread;
  if (thread->kind != IterKind::Thread && !is_virtual) {
    fail(where, Code::BadThreadAxis,
         "bind to te.thread_axis(\"blockIdx.x\") or another thread axis",
         "cannot bind '{0}' to '{1}': '{1}' is not a thread axis", axis->name(), thread->name());
  }
  if (axis->kind == IterKind::Reduction) check_reduction_bound(own, axis, thread, where);
  const AxisAttributes* old = own.attributes_of(axis);
  refuse_tensorized(own, axis, where, "bind");
  std::vector<Diagnostic> warnings =
      dropped_annotations(own, {axis}, "bound to " + thread->name(), where);
  if (old != nullptr && old->thread) {
    warnings.push_back({Severity::Warning,
                        Code::AxisBoundAlready,
                        where,
                        fmt::format("the axis '{}' of '{}' was bound to {} and is now bound to {}",
                                    axis->name(), own.name(), old->thread->name(), thread->name()),
                        "bind each axis once; the last binding takes effect",
                        {}});
  }
  own.attributes[axis] = {is_virtual ? LoopKind::Virtual : LoopKind::Thread, thread, where};
  return warnings.empty() ? std::nullopt : std::optional(std::move(warnings.front()));
}

void Schedule::annotate(StageId id, const IterVar& axis, LoopKind loop,
                        const SourceLocation& where) {
  const std::string_view directive = directive_for(loop);
  Stage& own = stage_for(id, where, directive);
  if (loop == LoopKind::Vectorized) refuse_scan(own, directive, where);
  leaf_position(own, axis, where, directive);
  if (loop == LoopKind::Vectorized && axis->kind == IterKind::Reduction) {
    fail(where, Code::VectorizedReduction, "vectorize a data axis; unroll the reduction",
         "cannot vectorize '{}' of '{}': it is a reduction axis", axis->name(), own.name());
  }
  refuse_tensorized(own, axis, where, directive);
  const AxisAttributes* old = own.attributes_of(axis);
  if (old != nullptr && old->thread) return;  // ignored_annotation.h
  own.attributes[axis] = {loop, {}, where};
}

void Schedule::refuse_axes_in(const TensorIntrinsicNode& intrinsic,
                              const SourceLocation& where) const {
  const auto refuse = [&](const IterVar& axis) {
    const auto is_axis = [&](const Expr& v) { return v.same_as(axis->var); };
    const auto among = [&](const Exprs& all) {
      return std::any_of(all.begin(), all.end(), is_axis);
    };
    if (!among(scalars_in(*intrinsic.computation)) || among(intrinsic.scalars)) return;
    fail(where, Code::BadIntrinsic,
         fmt::format("give the axis as a scalar: scalar_params=[{}.var]", axis->name()),
         "the computation of the intrinsic '{}' uses the axis '{}' of the schedule", intrinsic.name,
         axis->name());
  };
  for (const Stage& each : stages_) {
    for (const auto* axes : {&each.op->axes, &each.op->reduce_axes, &each.leaves}) {
      for (const IterVar& axis : *axes) refuse(axis);
    }
  }
}

void Schedule::tensorize(StageId id, const IterVar& axis, const TensorIntrinsic& intrinsic,
                         const SourceLocation& where) {
  Stage& own = stage_for(id, where, "tensorize");
  leaf_position(own, axis, where, "tensorize");
  refuse_axes_in(*intrinsic, where);
  const AxisAttributes* old = own.attributes_of(axis);
  const bool in_turn =
      old == nullptr || old->loop == LoopKind::Serial || old->loop == LoopKind::Parallel;
  if (!in_turn) {
    fail(where, Code::BadAnnotation, "split the axis, and tensorize the inner part",
         "cannot tensorize '{}' of '{}': it is already {}", axis->name(), own.name(),
         annotation(*old));
  }
  own.attributes[axis] = {LoopKind::Serial, {}, where, intrinsic};
}

void Schedule::compute_at(StageId id, StageId parent, const IterVar& axis,
                          const SourceLocation& where) {
  leaf_position(stage_for(parent, where, "compute_at"), axis, where, "compute_at");
  attach(id, parent, axis, where);
}

void Schedule::attach(StageId id, StageId parent, const IterVar& axis,
                      const SourceLocation& where) {
  Stage& own = stage_for(id, where, "compute_at");
  const Stage& host = stage_for(parent, where, "compute_at");
  if (id == parent) {
    fail(where, Code::CannotAttach, "attach it to a loop of a stage that reads it",
         "'{}' cannot be computed at its own loop '{}'", own.name(), axis->name());
  }
  refuse_scan(own, "compute_at", where);
  refuse_part_of_scan(own, "compute_at", where);
  check_step(own, host, where);
  own.attachment = {AttachKind::At, parent, axis, where};
}

void Schedule::pipeline(StageId id, int64_t stages, bool is_async, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "pipeline");
  const int most = is_async ? kMaxAsyncStages : kMaxPipelineStages;
  if (stages < kMinPipelineStages || stages > most) {
    fail(where, Code::BadPipeline,
         is_async ? "use 2 to copy one iteration ahead, 3 for two"
                  : "use 2 to compute one iteration ahead, 3 for two, or asynchronous copies for "
                    "more",
         "cannot pipeline '{}' with stages = {}: it must be {} to {}", own.name(), stages,
         kMinPipelineStages, most);
  }
  if (own.is_output) {
    fail(where, Code::BadPipeline, "pipeline a cache that the output's loops read",
         "cannot pipeline '{}': it is an output of the schedule, which no loop reads", own.name());
  }
  if (!own.op->reduce_axes.empty()) {
    fail(where, Code::BadPipeline, "pipeline the caches that the reduction reads",
         "cannot pipeline '{}': it is a reduction, which takes several steps for each element",
         own.name());
  }
  if (own.op->types.size() > 1 || own.double_buffered) {
    fail(where, Code::BadPipeline, "pipeline a stage of one output, and leave double_buffer out",
         "cannot pipeline '{}': it has {}", own.name(),
         own.double_buffered ? "two buffers from double_buffer" : "several outputs");
  }
  own.pipeline = Pipeline{static_cast<int>(stages), is_async, where};
}

void Schedule::compute_inline(StageId id, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "compute_inline");
  if (!own.op->reduce_axes.empty()) {
    fail(where, Code::CannotInline, "compute it at a loop of its reader with compute_at",
         "cannot inline '{}': it is a reduction", own.name());
  }
  refuse_part_of_scan(own, "compute_inline", where);
  if (own.is_tensorized()) {
    fail(where, Code::CannotInline, "leave it at the root, or compute it at a loop of its reader",
         "cannot inline '{}': a tensor intrinsic replaces its loops", own.name());
  }
  own.attachment = {AttachKind::Inline, -1, {}, where};
}

void Schedule::compute_root(StageId id, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "compute_root");
  own.attachment = own_place(own);
  own.attachment.location = where;
}

void Schedule::pragma(StageId id, const IterVar& axis, const std::string& key,
                      const std::string& value, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "pragma");
  leaf_position(own, axis, where, "pragma");
  // The last value counts, except for C texts, which are all part of the program.
  if (!Pragma::is_foreign_text(key)) {
    std::erase_if(own.pragmas,
                  [&](const Pragma& p) { return p.axis.same_as(axis) && p.key == key; });
  }
  own.pragmas.push_back({axis, key, value, where});
}

void Schedule::set_store_predicate(StageId id, const Expr& predicate, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "set_store_predicate");
  if (predicate->type != kBool) {
    fail(where, Code::BadPredicate, "give a comparison such as tx.var.equal(0)",
         "the store predicate of '{}' is {}, not bool", own.name(), to_string(predicate->type));
  }
  walk(predicate, [&](const TensorRead& n) {
    fail(where, Code::BadPredicate, "give a comparison such as tx.var.equal(0)",
         "the store predicate of '{}' reads '{}'; it may only compare thread axes", own.name(),
         n.tensor->name);
  });
  // All axes of one tag have one index: the variable of the first axis replaces the variables of
  // the others. Each is named after the tag.
  std::map<std::string, Expr> indices;
  Substitution first;
  walk(predicate, [&](const Var& v) {
    if (!parse_thread_tag(v.name)) {
      fail(where, Code::BadPredicate,
           "use thread axes along which its elements are repeated, such as those that its "
           "reduction axes are bound to: tx.var",
           "the store predicate of '{}' uses '{}', which is not a thread index", own.name(),
           v.name);
    }
    first.emplace(Expr(&v), indices.try_emplace(v.name, Expr(&v)).first->second);
  });
  own.predicate = substitute(predicate, first);
  own.predicate_location = where;
}

}  // namespace texloom::schedule
