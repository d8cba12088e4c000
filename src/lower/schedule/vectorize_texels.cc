#include "lower/schedule/vectorize_texels.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "schedule/attach.h"
#include "schedule/bounds/axis_values.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

// The axis whose consecutive indices are the lanes of a texel: the last axis, unless the layout
// says otherwise. make_stage_buffers handles a layout without such an axis.
IterVar lane_axis_of(const Stage& stage) {
  if (!stage.layout) return stage.op->axes.back();
  const Shape shape = open_shape(extents_of(stage.op->shape, stage.name(), stage.op->location));
  const auto axis = layout_for(*stage.layout, shape).lane_axis();
  return axis ? stage.op->axes[static_cast<size_t>(*axis)] : IterVar();
}

// Warns that one thread per element becomes one thread per texel, so that there are fewer threads
// than the user asked for.
Diagnostic fewer_threads(const Stage& stage, const IterVar& axis, const AxisAttributes& bound) {
  return {
      Severity::Warning,
      Code::ThreadsOfTexels,
      bound.location,
      fmt::format("the axis '{}' of the texture '{}' is bound to {}: each thread writes a whole "
                  "texel of four elements, so there are a quarter as many threads",
                  axis->name(), stage.name(), bound.thread->name()),
      "split the axis by 4 and bind the outer part, which has the same effect",
      {}};
}

// Finds the loop whose consecutive values are consecutive lanes. Fails if four consecutive
// iterations are not one texel.
class LaneLoop {
 public:
  // `extents` are the extents of the data axes. There are no other axes: a reduction cannot be in a
  // texture.
  LaneLoop(const Schedule& s, const Stage& stage, IterVar lane_axis, const Exprs& extents)
      : stage_(stage), lane_axis_(std::move(lane_axis)), loop_(lane_axis_) {
    for (size_t i = 0; i < extents.size(); ++i) extents_[stage.op->axes[i]] = extents[i];
    add_derived_extents(s, stage, extents_);
  }

  IterVar find() {
    for (const Relation& relation : stage_.relations) {
      if (const auto* split = std::get_if<SplitRelation>(&relation)) {
        if (split->parent.same_as(loop_)) enter(*split);
      } else {
        const auto& fuse = std::get<FuseRelation>(relation);
        if (fuse.inner.same_as(loop_)) enter(fuse);
        if (fuse.outer.same_as(loop_)) leave(fuse);
      }
    }
    return loop_;
  }

 private:
  static bool is_whole_texels(const Expr& extent) {
    return arith::prove_equal(floormod(extent, kTexelLanes), make_int(0, extent->type), {});
  }
  bool is_unit(const IterVar& axis) const { return is_int(extents_.at(axis), 1); }

  void enter(const SplitRelation& split) {
    const Expr &whole = extents_.at(loop_), &part = extents_.at(split.inner);
    const bool is_cut = !arith::prove(part >= whole, {});
    if (is_cut && !is_whole_texels(part)) {
      refuse(fmt::format("split the axis '{}' by a multiple of 4", lane_axis_->name()),
             fmt::format("the loop '{}' of the texture '{}' runs over {} elements, which are not "
                         "whole texels",
                         split.inner->name(), stage_.name(), ir::to_string(part)));
    }
    loop_ = split.inner;
  }

  // At the end of the lanes, the fused loop continues with the next iteration of the outer loop.
  void enter(const FuseRelation& fuse) {
    const Expr& lanes = extents_.at(loop_);
    if (!is_whole_texels(lanes) && !is_unit(fuse.outer)) {
      refuse(fmt::format("leave '{}' out of the fusion", loop_->name()),
             fmt::format(
                 "a row of the texture '{}' has the extent {} of the axis '{}' and {} inside a "
                 "texel, but the loop '{}' continues there with the next step of '{}'",
                 stage_.name(), ir::to_string(lanes), loop_->name(),
                 int_value(lanes) != nullptr ? "ends" : "may end", fuse.fused->name(),
                 fuse.outer->name()));
    }
    loop_ = fuse.fused;
  }

  void leave(const FuseRelation& fuse) {
    if (!is_unit(fuse.inner)) {
      refuse(
          fmt::format("make '{}' the last axis that is fused, or split it by 4 and fuse the outer "
                      "part",
                      loop_->name()),
          fmt::format("in the loop '{}' of the texture '{}', the axis '{}' does not vary fastest, "
                      "so the lanes of a texel would not be written together",
                      fuse.fused->name(), stage_.name(), loop_->name()));
    }
    loop_ = fuse.fused;
  }

  [[noreturn]] void refuse(std::string help, std::string_view reason) const {
    fail(stage_.scope_location, Code::LanesSplitOverThreads, std::move(help), "{}", reason);
  }

  const Stage& stage_;
  IterVar lane_axis_;
  IterVar loop_;
  AxisExtents extents_;
};

void refuse_tensorized(const Stage& stage) {
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.intrinsic) continue;
    fail(attributes.location, Code::TensorizeMismatch,
         fmt::format("accumulate in registers: tensorize s.cache_write({}, \"local\")",
                     stage.origin->name),
         "'{}' is tensorized at '{}' by the intrinsic '{}', but it is in a texture, which is "
         "written a texel at a time",
         stage.name(), axis->name(), attributes.intrinsic->name);
  }
}

// Splits the lane axis into a loop over texels and a vectorized loop over the four lanes.
void vectorize_lanes(Lowering& lowering, StageId id) {
  Schedule& s = lowering.schedule;
  const IterVar lane_axis = lane_axis_of(s.stage(id));
  if (!lane_axis) return;
  const IterVar leaf = LaneLoop(s, s.stage(id), lane_axis, s.stage(id).op->shape).find();
  const AxisAttributes* found = s.stage(id).attributes_of(leaf);
  const AxisAttributes attributes = found == nullptr ? AxisAttributes{} : *found;
  const bool is_whole_axis = leaf.same_as(lane_axis);
  const bool whole_texel = is_whole_axis && is_int(lane_axis->extent, kTexelLanes);
  if (attributes.thread && (whole_texel || !is_whole_axis)) {
    fail(attributes.location, Code::LanesSplitOverThreads,
         fmt::format("leave the axis '{}' to one thread: split it by 4 and bind the outer part, or "
                     "bind other axes",
                     lane_axis->name()),
         "the axis '{}' of the texture '{}' is bound to {}, so several threads would write lanes "
         "of the same texel",
         leaf->name(), s.stage(id).name(), attributes.thread->name());
  }
  if (attributes.thread) {
    lowering.warnings.push_back(fewer_threads(s.stage(id), leaf, attributes));
  }
  const Schedule::Pair parts = s.split_exactly(id, leaf, kTexelLanes);
  Stage& stage = s.stage(id);
  stage.attributes.erase(leaf);
  if (attributes.thread || attributes.loop == LoopKind::Unrolled) {
    stage.attributes[parts.outer] = attributes;
  }
  // Moves the lane loop innermost: the loops that were inside it now run over whole texels.
  std::erase_if(stage.leaves, [&](const IterVar& l) { return l.same_as(parts.inner); });
  stage.leaves.push_back(parts.inner);
  stage.attributes[parts.inner] = {LoopKind::Vectorized, {}, stage.scope_location};
  // Stages that were attached at this axis are now computed for a whole texel.
  for (const StageId other : s.order()) {
    Attachment& at = s.stage(other).attachment;
    const bool here = at.kind == AttachKind::At && at.stage == id;
    if (here && leaf_of(stage, at.axis).same_as(parts.inner)) at.axis = parts.outer;
  }
}

bool computes_texture(const Stage& stage) {
  return stage.op->is_compute() && stage.attachment.kind != AttachKind::Inline && stage.scope &&
         stage.scope->texture;
}

// Leaves out reductions into textures, which check_schedule refuses whatever their loops are.
bool writes_texels(const Stage& stage) {
  return computes_texture(stage) && !stage.op->axes.empty() && stage.op->reduce_axes.empty();
}

}  // namespace

void vectorize_texels(Lowering& lowering) {
  for (const StageId id : lowering.schedule.order()) {
    const Stage& stage = lowering.schedule.stage(id);
    if (computes_texture(stage)) refuse_tensorized(stage);
    if (writes_texels(stage)) vectorize_lanes(lowering, id);
  }
}

void check_computed_lanes(const Schedule& schedule, const Bounds& bounds) {
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    if (!writes_texels(stage)) continue;
    const IterVar lane_axis = lane_axis_of(stage);
    if (lane_axis) LaneLoop(schedule, stage, lane_axis, bounds.of(id).extent).find();
  }
}

}  // namespace texloom::lower
