#include "schedule/bounds/needed_points.h"

#include <algorithm>
#include <optional>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/linear.h"
#include "ir/arith/region.h"
#include "ir/arith/simplify.h"
#include "ir/layout/layout.h"
#include "ir/visit.h"
#include "schedule/bounds/possible_reads.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes
using arith::Interval;
using arith::Region;
using arith::RegionMap;

namespace {

// Whether consecutive indices of the axis may be lanes of a texel, which are written together.
bool may_be_lanes(const Stage& stage, size_t axis) {
  const bool texture = stage.scope && stage.scope->texture;
  return texture && (stage.layout || axis + 1 == stage.op->axes.size());
}

class NeededPoints {
 public:
  NeededPoints(const Schedule& schedule, const StageLinks& links, const Stage& stage,
               const Bounds& bounds)
      : schedule_(schedule), stage_(stage), bounds_(bounds) {
    for (const StageId id : links.readers_of(stage.id)) {
      // An inlined reader's expression has been substituted into its own readers.
      const Stage& reader = schedule.stage(id);
      if (reader.attachment.kind != AttachKind::Inline) readers_.push_back(&reader);
    }
  }

  // The needed indices along each axis; nullopt if no read happens.
  std::optional<std::vector<Interval>> intervals() const {
    const size_t rank = stage_.op->axes.size();
    std::optional<std::vector<Interval>> needed;
    for (const Stage* reader : readers_) {
      if (!reader->op->is_compute()) return std::vector<Interval>(rank, Interval::everything());
      if (bounds_.of(reader->id).is_empty()) continue;
      for_each_possible_read(reader->op->body, values_at_points(*reader),
                             [&](const TensorRead& n, const arith::Ranges& points) {
                               if (schedule_.producer(n.tensor) == stage_.id)
                                 add(n, points, needed);
                             });
    }
    return needed;
  }

  // The largest needed index along an axis, over symbols.
  std::optional<Expr> last(size_t axis) const {
    std::optional<Region> all;
    for (const Stage* reader : readers_) {
      if (!reader->op->is_compute()) return std::nullopt;
      bool known = true;
      const RegionMap points = regions_of_points(*reader);
      walk(reader->op->body, [&](const TensorRead& n) {
        if (schedule_.producer(n.tensor) != stage_.id) return;
        const auto region = arith::region_of(n.indices[axis], points, bounds_.ranges);
        known = known && region;
        if (known) all = all ? arith::join(*all, *region, bounds_.ranges) : region;
      });
      if (!known) return std::nullopt;
    }
    return all ? std::optional(all->max) : std::nullopt;
  }

 private:
  static void add(const TensorRead& n, const arith::Ranges& points,
                  std::optional<std::vector<Interval>>& needed) {
    std::vector<Interval> read;
    for (const Expr& index : n.indices) {
      read.push_back(
          meet(arith::bounds(index, points), arith::linear_sum(index, points).bounds(points)));
      if (read.back().min > read.back().max) return;  // the conditions around it never hold
    }
    if (!needed) {
      needed = std::move(read);
      return;
    }
    for (size_t i = 0; i < read.size(); ++i) (*needed)[i] = join((*needed)[i], read[i]);
  }

  // The values of a stage's axes at the points that it computes.
  arith::Ranges values_at_points(const Stage& stage) const {
    const StageBounds& own = bounds_.of(stage.id);
    arith::Ranges points = bounds_.ranges;
    for (size_t i = 0; i < stage.op->axes.size(); ++i) {
      const int64_t *first = int_value(own.first[i]), *end = int_value(own.end[i]);
      if (first && end) points.set(stage.op->axes[i]->var, {*first, *end - 1});
    }
    for (const IterVar& axis : stage.op->reduce_axes) {
      const int64_t *min = int_value(axis->min), *extent = int_value(axis->extent);
      if (min && extent) points.set(axis->var, {*min, *min + *extent - 1});
    }
    return points;
  }

  // The values of the stage's axes as regions, also for axes of symbolic extents.
  RegionMap regions_of_points(const Stage& stage) const {
    const StageBounds& own = bounds_.of(stage.id);
    RegionMap points;
    for (size_t i = 0; i < stage.op->axes.size(); ++i) {
      points.emplace(stage.op->axes[i]->var,
                     Region{own.first[i], arith::simplify(own.end[i] - 1, bounds_.ranges)});
    }
    for (const IterVar& axis : stage.op->reduce_axes) {
      const Expr extent = extents_of({axis->extent}, axis->name(), axis->location).front();
      points.emplace(axis->var,
                     Region{axis->min, arith::simplify(axis->min + extent - 1, bounds_.ranges)});
    }
    return points;
  }

  const Schedule& schedule_;
  const Stage& stage_;
  const Bounds& bounds_;
  std::vector<const Stage*> readers_;
};

}  // namespace

void limit_points(const Schedule& schedule, const StageLinks& links, const Stage& stage,
                  Bounds& bounds) {
  const bool whole = stage.is_output || stage.scan >= 0 || links.readers_of(stage.id).empty() ||
                     schedule.is_init(stage.id) || schedule.is_update(stage.id);
  if (whole) return;
  StageBounds& own = bounds.of(stage.id);
  const NeededPoints points(schedule, links, stage, bounds);
  const std::optional<std::vector<Interval>> needed = points.intervals();
  if (!needed) {
    own.end.assign(own.end.size(), make_int(0));
    return;
  }
  for (size_t i = 0; i < own.end.size(); ++i) {
    const int64_t* extent = int_value(own.end[i]);
    const bool lanes = may_be_lanes(stage, i);
    if (extent == nullptr) {
      const std::optional<Expr> last = lanes ? std::nullopt : points.last(i);
      const Expr end = last ? arith::simplify(*last + 1, bounds.ranges) : own.end[i];
      if (arith::prove(end < own.end[i], bounds.ranges)) own.end[i] = end;
    } else if (const Interval& each = (*needed)[i]; each.bounded()) {
      const int64_t step = lanes ? kTexelLanes : 1;
      const int64_t end = (std::clamp<int64_t>(each.max, 0, *extent - 1) / step + 1) * step;
      own.first[i] = make_int(std::clamp<int64_t>(each.min, 0, *extent - 1) / step * step);
      own.end[i] = make_int(std::min(end, *extent));
    }
  }
}

}  // namespace texloom::schedule
