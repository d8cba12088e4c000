#include "lower/vectorize_texels.h"

#include <algorithm>

#include "schedule/attach.h"
#include "schedule/axis_values.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages

namespace {

// The axis of which a texel's lanes are consecutive indices: by the rules of scopes the last one.
// A layout without such an axis is left to make_stage_buffers.
IterVar lane_axis_of(const Stage& stage) {
  if (!stage.layout) return stage.op->axes.back();
  const Shape shape = constant_shape(stage.op->shape, stage.name(), stage.op->location);
  const auto axis = layout_for(*stage.layout, shape).lane_axis();
  return axis ? stage.op->axes[static_cast<size_t>(*axis)] : IterVar();
}

// A thread for each element becomes one for each texel: fewer than the user asked for.
Diagnostic fewer_threads(const Stage& stage, const IterVar& axis, const AxisAttributes& bound) {
  return {
      Severity::Warning,
      Code::ThreadsOfTexels,
      bound.location,
      fmt::format("the axis '{}' of the texture '{}' is bound to {}: each thread writes a whole "
                  "texel, four elements, so that there are a quarter as many",
                  axis->name(), stage.name(), bound.thread->name()),
      "split the axis by 4 and bind the outer part, which says the same",
      {}};
}

// Parts of the lane axis that are no whole texels would each write lanes of one.
void check_parts(const Schedule& s, const Stage& stage, const IterVar& lane_axis,
                 const IterVar& leaf) {
  AxisExtents extents;
  for (const auto* axes : {&stage.op->axes, &stage.op->reduce_axes}) {
    for (const IterVar& axis : *axes) extents[axis] = axis->extent;
  }
  add_derived_extents(s, stage, extents);
  const int64_t* whole = int_value(lane_axis->extent);
  const int64_t* part = int_value(extents.at(leaf));
  if (whole == nullptr || part == nullptr || *part >= *whole || *part % kTexelLanes == 0) return;
  fail(stage.scope_location, Code::LanesSplitOverThreads,
       fmt::format("split the axis '{}' by a multiple of 4", lane_axis->name()),
       "the loop '{}' of the texture '{}' runs over {} elements, which are no whole texels",
       leaf->name(), stage.name(), *part);
}

void refuse_tensorized(const Stage& stage) {
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.intrinsic) continue;
    fail(attributes.location, Code::TensorizeMismatch,
         fmt::format("accumulate in registers: tensorize s.cache_write({}, \"local\")",
                     stage.origin->name),
         "'{}' is tensorized at '{}' by the intrinsic '{}': it lies in a texture, which is written "
         "a texel at a time",
         stage.name(), axis->name(), attributes.intrinsic->name);
  }
}

// The loop over the lanes of one texel must be a vector of four, whole texels apart from the next.
void vectorize_lanes(Lowering& lowering, StageId id) {
  Schedule& s = lowering.schedule;
  const IterVar lane_axis = lane_axis_of(s.stage(id));
  if (!lane_axis) return;
  // The leaf whose consecutive values are consecutive lanes.
  const IterVar leaf = leaf_of(s.stage(id), lane_axis);
  const AxisAttributes* found = s.stage(id).attributes_of(leaf);
  const AxisAttributes attributes = found == nullptr ? AxisAttributes{} : *found;
  const bool is_whole_axis = leaf.same_as(lane_axis);
  const bool whole_texel = is_whole_axis && is_int(lane_axis->extent, kTexelLanes);
  if (attributes.thread && (whole_texel || !is_whole_axis)) {
    fail(attributes.location, Code::LanesSplitOverThreads,
         fmt::format("leave the axis '{}' to one thread: split it by 4 and bind the outer part, or "
                     "bind other axes",
                     lane_axis->name()),
         "the axis '{}' of the texture '{}' is bound to {}, so that several threads would write "
         "lanes of one texel",
         leaf->name(), s.stage(id).name(), attributes.thread->name());
  }
  if (attributes.thread) {
    lowering.warnings.push_back(fewer_threads(s.stage(id), leaf, attributes));
  }
  check_parts(s, s.stage(id), lane_axis, leaf);
  const Schedule::Pair parts = s.split_exactly(id, leaf, kTexelLanes);
  Stage& stage = s.stage(id);
  stage.attributes.erase(leaf);
  if (attributes.thread || attributes.loop == LoopKind::Unrolled) {
    stage.attributes[parts.outer] = attributes;
  }
  // Innermost: whatever loops stood inside it now run over whole texels.
  std::erase_if(stage.leaves, [&](const IterVar& l) { return l.same_as(parts.inner); });
  stage.leaves.push_back(parts.inner);
  stage.attributes[parts.inner] = {LoopKind::Vectorized, {}, stage.scope_location};
  // What is computed at this axis is computed for a whole texel.
  for (const StageId other : s.order()) {
    Attachment& at = s.stage(other).attachment;
    const bool here = at.kind == AttachKind::At && at.stage == id;
    if (here && leaf_of(stage, at.axis).same_as(parts.inner)) at.axis = parts.outer;
  }
}

}  // namespace

void vectorize_texels(Lowering& lowering) {
  for (const StageId id : lowering.schedule.order()) {
    const Stage& stage = lowering.schedule.stage(id);
    if (!stage.op->is_compute() || stage.attachment.kind == AttachKind::Inline) continue;
    if (!stage.scope || !stage.scope->texture) continue;
    refuse_tensorized(stage);
    if (!stage.op->axes.empty()) vectorize_lanes(lowering, id);
  }
}

}  // namespace texloom::lower
