#include "schedule/bounds/bounds.h"

#include <algorithm>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/extrema.h"
#include "ir/arith/linear.h"
#include "ir/arith/order.h"
#include "ir/arith/region.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "schedule/attach.h"
#include "schedule/bounds/array_extents.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/bounds/early_end.h"
#include "schedule/bounds/needed_points.h"
#include "schedule/stage_links.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes
using arith::Region;
using arith::RegionMap;

const LeafLoop& StageBounds::loop_of(const IterVar& leaf) const {
  return *std::find_if(loops.begin(), loops.end(),
                       [&](const LeafLoop& l) { return l.axis.same_as(leaf); });
}

namespace {

// The smallest region that contains several regions; none if one of these is unknown.
class JoinedRegion {
 public:
  void add(const std::optional<Region>& region, const arith::Ranges& ranges) {
    known_ = known_ && region;
    if (known_) region_ = region_ ? arith::join(*region_, *region, ranges) : region;
  }
  std::optional<Region> get() const { return known_ ? region_ : std::nullopt; }

 private:
  bool known_ = true;
  std::optional<Region> region_;
};

// The strided region that all reads of one axis share.
class StridedReads {
 public:
  void add(std::optional<StridedRegion> region) {
    const bool same = !region_ || (region && region->axis == region_->axis &&
                                   arith::equal(region->min, region_->min));
    known_ = known_ && region && same;
    region_ = std::move(region);
  }
  // The region that all reads share; null if their regions differ.
  const StridedRegion* common() const { return known_ && region_ ? &*region_ : nullptr; }

 private:
  bool known_ = true;
  std::optional<StridedRegion> region_;
};

// The regions that readers read along one axis of a stage.
struct AxisReads {
  JoinedRegion all;
  JoinedRegion clamped;  // the regions for the readers' clamped indices
  StridedReads strided;
};

class Inference {
 public:
  Inference(const Schedule& schedule, Points points)
      : schedule_(schedule), points_(points), links_(links_of(schedule)) {
    bounds_.stages.resize(schedule.order().size());
    // Regions are those of calls with elements: without any, no loop over them runs.
    bounds_.ranges = ranges_of_symbols(array_extents(schedule), 1);
  }

  Bounds run() {
    const std::vector<StageId>& order = schedule_.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Stage& stage = schedule_.stage(*id);
      const bool inlined = stage.attachment.kind == AttachKind::Inline;
      if (!inlined && stage.op->is_compute()) infer(*id);
      if (stage.op->is_scan()) infer_steps(stage);
    }
    return std::move(bounds_);
  }

 private:
  void infer(StageId id) {
    const Stage& stage = schedule_.stage(id);
    StageBounds& own = bounds_.of(id);
    const Exprs shape = extents_of(stage.op->shape, stage.name(), stage.op->location);
    own.first.assign(shape.size(), make_int(0));
    own.end = shape;
    if (points_ == Points::Needed) limit_points(schedule_, links_, stage, bounds_);
    demand(stage, shape, own);
    const bool whole = schedule_.is_update(id) || is_divided_among_blocks(schedule_, id);
    own.buffer_min = whole ? Exprs(shape.size(), make_int(0)) : own.min;
    own.buffer_extent = whole ? shape : own.extent;
    const AxisExtents extents = make_loops(stage, own);
    derive_indices(stage, shape, extents, own);
    end_loops_early(schedule_, stage, bounds_.ranges, own);
  }

  void infer_steps(const Stage& stage) {
    const IterVar& axis = stage.op->scan_axis;
    StageBounds& own = bounds_.of(stage.id);
    const Expr extent = extents_of({axis->extent}, stage.name(), axis->location).front();
    const Expr var = make_var(axis->name(), kInt32, axis->location);
    const LeafLoop loop{axis, var, extent, extent};
    bounds_.ranges.enter(loop.var, loop.extent);
    own.loops.push_back(loop);
    own.index.emplace(axis->var, axis->min + loop.var);
  }

  // -- The regions that readers demand.

  static void demand_all(const Exprs& shape, StageBounds& own) {
    own.min.assign(shape.size(), make_int(0));
    own.clamped_min = own.min;
    own.extent = shape;
    own.strides.resize(shape.size());
  }

  // Demands the one row that a step of the scan computes.
  void demand_row(const Stage& update, const Exprs& shape, StageBounds& own) const {
    demand_all(shape, own);
    const IterVar& axis = schedule_.stage(update.scan).op->scan_axis;
    own.min.front() = bounds_.of(update.scan).index.at(axis->var);
    own.clamped_min.front() = own.min.front();
    own.extent.front() = make_int(1);
  }

  void demand(const Stage& stage, const Exprs& shape, StageBounds& own) {
    const std::vector<StageId> readers = computed_readers(stage);
    if (schedule_.is_update(stage.id)) return demand_row(stage, shape, own);
    // Boxes go past the points that readers need: of a stage of a kernel of its own, they are all
    // of its tensor; of others, all points of the readers' tiles.
    const bool boxes = is_in_boxes(stage);
    const bool whole = boxes && stage.attachment.kind == AttachKind::Root;
    if (stage.is_output || readers.empty() || schedule_.is_init(stage.id) || whole) {
      return demand_all(shape, own);
    }
    std::vector<AxisReads> reads(shape.size());
    for (const StageId reader : readers) add_reads(stage, reader, reads);
    const bool clamped = take_over_clamps(stage, readers, own);
    const bool own_thread = is_private(scope_of(schedule_, stage.id).memory);
    for (size_t i = 0; i < shape.size(); ++i) {
      const StridedRegion* region = own_thread ? reads[i].strided.common() : nullptr;
      const auto [min, extent] = within_shape(reads[i].all.get(), shape[i]);
      // Stores only the elements that are read, unless storing every element of the region, clamped
      // to the shape, takes less memory.
      if (region != nullptr && region->axis.leaves_out() &&
          !is_smaller(extent, make_int(region->axis.count()))) {
        own.min.push_back(region->min.to_expr(kInt32));
        own.clamped_min.push_back(own.min.back());
        own.extent.push_back(make_int(region->axis.count()));
        own.strides.push_back(region->axis);
        continue;
      }
      own.strides.emplace_back();
      const auto [clamped_min, clamped_extent] = within_shape(reads[i].clamped.get(), shape[i]);
      const bool fewer = !boxes && is_smaller(clamped_extent, extent);
      own.min.push_back(fewer ? clamped_min : min);
      own.clamped_min.push_back(clamped && equal(clamped_extent, extent) ? clamped_min
                                                                         : own.min.back());
      own.extent.push_back(fewer ? clamped_extent : extent);
    }
  }

  // Whether an intrinsic computes the stage, in whole boxes.
  static bool is_in_boxes(const Stage& stage) {
    return std::ranges::any_of(stage.leaves, [&](const IterVar& leaf) {
      const AxisAttributes* attributes = stage.attributes_of(leaf);
      return attributes != nullptr && attributes->intrinsic;
    });
  }

  // A constant is assumed to be less than an extent known only at the call.
  static bool is_smaller(const Expr& a, const Expr& b) {
    const int64_t *x = int_value(a), *y = int_value(b);
    return x != nullptr && (y == nullptr || *x < *y);
  }

  // Guards a stage in private memory by the clamps of its only reader, except clamps that depend on
  // loops that run while the stage's buffer lives. Returns whether all clamps of the reader became
  // guards.
  bool take_over_clamps(const Stage& stage, const std::vector<StageId>& readers,
                        StageBounds& own) const {
    if (!is_private(scope_of(schedule_, stage.id).memory) || readers.size() != 1) {
      return false;
    }
    const RegionMap running = running_loops(stage, readers.front());
    bool all = true;
    for (const Expr& clamp : bounds_.of(readers.front()).clamps) {
      const bool runs = std::any_of(running.begin(), running.end(),
                                    [&](const auto& loop) { return uses_var(clamp, loop.first); });
      all = all && !runs;
      if (runs) continue;
      own.clamps.push_back(clamp);
      guard(IterKind::Data, clamp, own);
    }
    return all;
  }

  // The readers that are computed. An inlined reader's expression has been substituted into its own
  // readers.
  std::vector<StageId> computed_readers(const Stage& stage) const {
    std::vector<StageId> readers;
    for (const StageId reader : links_.readers_of(stage.id)) {
      if (schedule_.stage(reader).attachment.kind != AttachKind::Inline) readers.push_back(reader);
    }
    return readers;
  }

  void add_reads(const Stage& stage, StageId reader, std::vector<AxisReads>& reads) const {
    const RegionMap running = running_loops(stage, reader);
    if (schedule_.stage(reader).op->is_extern()) return add_everything(reads);
    const StageBounds& of_reader = bounds_.of(reader);
    walk(schedule_.stage(reader).op->body, [&](const TensorRead& n) {
      if (schedule_.producer(n.tensor) != stage.id) return;
      for (size_t i = 0; i < reads.size(); ++i) {
        const auto region = [&](const Substitution& index) {
          return arith::region_of(substitute(n.indices[i], index), running, bounds_.ranges);
        };
        const auto all = region(of_reader.index);
        reads[i].all.add(all, bounds_.ranges);
        reads[i].clamped.add(of_reader.clamps.empty() ? all : region(of_reader.clamped_index),
                             bounds_.ranges);
        reads[i].strided.add(
            strided_region_of(substitute(n.indices[i], of_reader.index), running, bounds_.ranges));
      }
    });
  }

  // Adds whole tensors, since a statement may read everything.
  void add_everything(std::vector<AxisReads>& reads) const {
    for (AxisReads& axis : reads) {
      axis.all.add(std::nullopt, bounds_.ranges);
      axis.clamped.add(std::nullopt, bounds_.ranges);
      axis.strided.add(std::nullopt);
    }
  }

  // The loops of the reader that run while the stage's buffer lives: all loops inside the
  // attachment point, and thread loops outside it that share the buffer.
  RegionMap running_loops(const Stage& stage, StageId reader) const {
    check_encloses(schedule_, stage.id, reader);
    const LoopPath fixed = enclosing_loops(schedule_, stage.id);
    const LoopPath path = all_loops(schedule_, reader);
    // A group of blocks shares out what the loops over blocks around the stage need.
    const MemoryScope memory = is_divided_among_blocks(schedule_, stage.id)
                                   ? MemoryScope::Shared
                                   : scope_of(schedule_, stage.id).memory;
    RegionMap running;
    for (size_t i = 0; i < path.size(); ++i) {
      if (i < fixed.size()) {
        const IterVar thread = thread_of(schedule_, path[i]);
        if (!thread || !share_buffer(memory, thread)) continue;
      }
      const LeafLoop& loop = bounds_.of(path[i].stage).loop_of(path[i].leaf);
      running.emplace(loop.var,
                      Region{make_int(0), arith::simplify(loop.extent - 1, bounds_.ranges)});
    }
    return running;
  }

  // Returns a region as a first index and a number of indices.
  std::pair<Expr, Expr> within_shape(std::optional<Region> region, const Expr& shape) const {
    const std::pair<Expr, Expr> all{make_int(0), shape};
    if (!region) return all;
    const int64_t *min = int_value(region->min), *max = int_value(region->max);
    const int64_t* whole = int_value(shape);
    if (min != nullptr && max != nullptr && whole != nullptr) {
      const int64_t first = std::clamp<int64_t>(*min, 0, *whole - 1);
      const int64_t last = std::clamp<int64_t>(*max, first, *whole - 1);
      return {make_int(first), make_int(last - first + 1)};
    }
    const Expr count = arith::simplify(region->max - region->min + 1, bounds_.ranges);
    const arith::Interval extent =
        whole != nullptr
            ? arith::bounds(count, bounds_.ranges)
            : arith::bounds_of_extrema(arith::linear_sum(count, bounds_.ranges), bounds_.ranges);
    if (!extent.has_max() || (whole != nullptr && extent.max >= *whole)) return all;
    return {region->min, make_int(std::max<int64_t>(extent.max, 1))};
  }

  // -- Extents of loops.

  AxisExtents make_loops(const Stage& stage, StageBounds& own) {
    AxisExtents extents;
    for (size_t i = 0; i < stage.op->axes.size(); ++i) {
      extents[stage.op->axes[i]] = own.extent[i];
    }
    for (const IterVar& axis : stage.op->reduce_axes) {
      extents[axis] = extents_of({axis->extent}, axis->name(), axis->location).front();
    }
    add_derived_extents(schedule_, stage, extents);
    for (const IterVar& leaf : stage.leaves) {
      const Expr& extent = extents.at(leaf);
      const LeafLoop loop{leaf, make_var(leaf->name(), kInt32, leaf->location), extent, extent};
      bounds_.ranges.enter(loop.var, loop.extent);
      own.loops.push_back(loop);
    }
    return extents;
  }

  // -- The indices of a stage, given its loop variables.

  void derive_indices(const Stage& stage, const Exprs& shape, const AxisExtents& extents,
                      StageBounds& own) {
    AxisValues value;
    for (const LeafLoop& loop : own.loops) value[loop.axis] = loop.var;
    const AxisValues of_loops = value;
    add_values_above(stage, extents, value, [&](const IterVar& axis, const Expr& condition) {
      own.clamps.push_back(condition);
      // If a fusion joins a data axis and a reduction axis, its loop may run past the end of
      // either.
      if (axis->kind == IterKind::Reduction) guard(IterKind::Reduction, condition, own);
      if (comes_from_data(stage, axis)) guard(IterKind::Data, condition, own);
    });
    for (size_t i = 0; i < shape.size(); ++i) {
      const IterVar& axis = stage.op->axes[i];
      const Expr offset = arith::simplify(value.at(axis), bounds_.ranges);
      const Expr index =
          arith::simplify(own.min[i] + own.strides[i].offset_of(offset), bounds_.ranges);
      own.position.push_back(own.buffer_min[i].same_as(own.min[i]) ? offset : index);
      own.index.emplace(axis->var, index);
      // A whole axis needs no more guards: the guards of splits keep loops within the axis,
      // whatever its extent is.
      const bool is_whole = int_value(own.end[i]) == nullptr && is_int(own.min[i], 0) &&
                            is_int(own.first[i], 0) && equal(own.extent[i], own.end[i]) &&
                            equal(index, offset);
      if (is_whole) continue;
      guard(IterKind::Data, index >= own.first[i], own);
      guard(IterKind::Data, index < own.end[i], own);
    }
    guard_rows_of_init(stage, own);
    guard_rows_of_state(stage, own);
    for (const IterVar& axis : stage.op->reduce_axes) {
      own.index.emplace(axis->var, arith::simplify(axis->min + value.at(axis), bounds_.ranges));
    }
    if (!own.clamps.empty()) derive_clamped_indices(stage, extents, of_loops, own);
  }

  // A scan's result of symbolic extent may have fewer rows than its init.
  void guard_rows_of_init(const Stage& stage, StageBounds& own) const {
    if (!schedule_.is_init(stage.id)) return;
    const Stage& scan = schedule_.stage(*schedule_.scan_written_by(stage.id));
    const Expr rows = extents_of(scan.op->shape, scan.name(), scan.op->location).front();
    guard(IterKind::Data, own.index.at(stage.op->axes.front()->var) < rows, own);
  }

  // The rows in a cache of a state may include the step's own row, which other threads may be
  // writing. The guard leaves the step's own row out of the cache, since nothing reads it there.
  void guard_rows_of_state(const Stage& stage, StageBounds& own) const {
    const auto* read = stage.scan < 0 ? nullptr : as<TensorRead>(stage.op->body);
    if (read == nullptr || !schedule_.is_state(read->tensor)) return;
    const IterVar& axis = schedule_.stage(stage.scan).op->scan_axis;
    const Expr& step = bounds_.of(stage.scan).index.at(axis->var);
    const Expr row = substitute(read->indices.front(), own.index);
    const Expr same_type = make_cast(row->type, step);
    if (!arith::prove_less(row, same_type, bounds_.ranges)) {
      guard(IterKind::Data, row < same_type, own);
    }
  }

  void derive_clamped_indices(const Stage& stage, const AxisExtents& extents, AxisValues value,
                              StageBounds& own) const {
    add_clamped_values_above(stage, extents, value);
    const auto add = [&](const IterVar& axis, const Expr& index) {
      own.clamped_index.emplace(axis->var, arith::simplify(index, bounds_.ranges));
    };
    for (size_t i = 0; i < stage.op->axes.size(); ++i) {
      const IterVar& axis = stage.op->axes[i];
      add(axis, own.clamped_min[i] + own.strides[i].offset_of(value.at(axis)));
    }
    for (const IterVar& axis : stage.op->reduce_axes) add(axis, axis->min + value.at(axis));
  }

  // Adds the guard unless it is proven, or holds wherever the others hold.
  void guard(IterKind kind, const Expr& condition, StageBounds& own) const {
    const Expr simple = arith::simplify(condition, bounds_.ranges);
    if (is_true(simple)) return;
    std::vector<Expr>& guards = kind == IterKind::Reduction ? own.reduction_guards : own.guards;
    arith::Ranges inside = bounds_.ranges;
    for (const Expr& each : guards) inside.assume(each);
    if (!arith::prove(simple, inside)) guards.push_back(simple);
  }

  const Schedule& schedule_;
  const Points points_;
  const StageLinks links_;
  Bounds bounds_;
};

}  // namespace

Bounds infer_bounds(const Schedule& schedule, Points points) {
  return Inference(schedule, points).run();
}

}  // namespace texloom::schedule
