#include "lower/prepare_schedule.h"

#include <algorithm>

#include "ir/visit.h"
#include "schedule/attach.h"
#include "schedule/axis_values.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

void apply_declarations(Lowering& lowering) {
  for (const Argument& argument : lowering.arguments) {
    const auto id = lowering.schedule.find(operation_of(argument.tensor));
    if (!id || lowering.schedule.stage(*id).attachment.kind != AttachKind::Root) continue;
    Stage& stage = lowering.schedule.stage(*id);
    if (!stage.op->is_placeholder()) stage.is_output = true;
    // An input lies in global memory; check_schedule refuses what says otherwise.
    const bool fits =
        argument.declaration &&
        (!stage.op->is_placeholder() || argument.declaration->scope.memory == MemoryScope::Global);
    if (fits) {
      stage.scope = argument.declaration->scope;
      stage.layout = argument.declaration->layout;
      stage.scope_location = argument.declaration->location;
    }
  }
}

// From here on a transform_layout is the layout that it means.
void apply_transforms(Schedule& s) {
  for (const StageId id : s.order()) {
    Stage& stage = s.stage(id);
    if (!stage.transform || stage.attachment.kind == AttachKind::Inline) continue;
    const SourceLocation& where = stage.transform->location;
    if (stage.layout) {
      fail(where, Code::BadLayout, "leave out one of them",
           "'{}' has both a layout= and a transform_layout", stage.name());
    }
    if (stage.attachment.kind == AttachKind::At) {
      fail(where, Code::BadLayout, "give it a layout=, which is one of the part that is computed",
           "transform_layout of '{}', of which only a part is computed at once, inside '{}'",
           stage.name(), s.stage(stage.attachment.stage).name());
    }
    const StorageScope scope =
        stage.op->is_placeholder() ? stage.scope.value_or(StorageScope{}) : scope_of(s, id);
    const Layout layout = transformed_layout(*stage.transform, scope, stage.name()).tensor;
    stage.layout = pattern_of(layout, axis_names(layout.shape.size()));
    if (!stage.scope_location.known()) stage.scope_location = where;
  }
}

bool is_copy(const Operation& op) {
  const auto* read = op.is_compute() ? as<TensorRead>(op.body) : nullptr;
  return read != nullptr && std::equal(read->indices.begin(), read->indices.end(), op.axes.begin(),
                                       op.axes.end(), [](const Expr& index, const IterVar& axis) {
                                         return index.same_as(axis->var);
                                       });
}

bool is_read_by_extern(const Schedule& s, StageId id) {
  const auto reads = [&](StageId reader) {
    const Operation& op = *s.stage(reader).op;
    return op.is_extern() && std::any_of(op.inputs.begin(), op.inputs.end(),
                                         [&](const Tensor& t) { return s.producer(t) == id; });
  };
  return std::any_of(s.order().begin(), s.order().end(), reads);
}

// A cache of an argument that lies in the same texture already is no copy: its readers read the
// argument. A statement has no expression to read it in.
void drop_copies_of_textures(Schedule& s) {
  for (const StageId id : s.order()) {
    Stage& stage = s.stage(id);
    if (stage.is_output || stage.attachment.kind != AttachKind::Root || !is_copy(*stage.op)) {
      continue;
    }
    const Stage& source = s.stage(s.producer(as<TensorRead>(stage.op->body)->tensor));
    const bool same_place = source.op->is_placeholder() && source.scope && stage.scope &&
                            source.scope->texture && *source.scope == *stage.scope &&
                            source.layout == stage.layout && !source.transform && !stage.transform;
    if (same_place && !is_read_by_extern(s, id)) stage.attachment.kind = AttachKind::Inline;
  }
}

// A stage's expression at given indices.
Expr expression_at(const Operation& op, const Exprs& indices) {
  Substitution values;
  for (size_t i = 0; i < indices.size(); ++i) values.emplace(op.axes[i]->var, indices[i]);
  return substitute(op.body, values);
}

// A statement has no expression that its readers could compute, and reads memory itself; a scan
// goes on from what lies there.
void keep_at_root(Schedule& s) {
  const auto keep = [&](StageId id) {
    Attachment& at = s.stage(id).attachment;
    if (at.kind == AttachKind::Inline) at = {};
  };
  for (const StageId id : s.order()) {
    const Op op = s.stage(id).op;
    if (op->is_scan()) keep(id);
    if (!op->is_extern()) continue;
    keep(id);
    for (const Tensor& input : op->inputs) keep(s.producer(input));
  }
}

// In topological order, so that an inlined stage has its own inlined inputs in it already.
void inline_stages(Schedule& s) {
  for (const StageId id : s.order()) {
    if (!s.stage(id).op->is_compute()) continue;
    const Expr body = rewrite(s.stage(id).op->body, [&](const TensorRead& n, const Expr& self) {
      const Stage& source = s.stage(s.producer(n.tensor));
      if (source.attachment.kind != AttachKind::Inline) return self;
      if (source.op->types.size() > 1) {
        fail(source.attachment.location, Code::CannotInline,
             "leave it where it is, or compute each output by a te.compute of its own",
             "compute_inline of '{}', whose {} outputs are computed together", source.name(),
             source.op->types.size());
      }
      return expression_at(*source.op, n.indices);
    });
    if (!body.same_as(s.stage(id).op->body)) s.set_body(id, body);
  }
}

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

void prepare_schedule(Lowering& lowering) {
  Schedule& s = lowering.schedule;
  keep_at_root(s);
  apply_declarations(lowering);
  drop_copies_of_textures(s);
  apply_transforms(s);
  inline_stages(s);
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    if (!stage.op->is_compute() || stage.attachment.kind == AttachKind::Inline) continue;
    if (!stage.scope || !stage.scope->texture) continue;
    refuse_tensorized(stage);
    if (!stage.op->axes.empty()) vectorize_lanes(lowering, id);
  }
}

}  // namespace texloom::lower
