#include "schedule/axis_values.h"

#include <algorithm>
#include <limits>

#include "schedule/attach.h"
#include "schedule/derived_axes.h"
#include "support/int128.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// The points an axis runs over, those past its end included: int32 like all indices.
int64_t checked_product(const Stage& stage, const IterVar& axis, int64_t a, int64_t b) {
  const int128 points = static_cast<int128>(a) * b;
  if (points <= std::numeric_limits<int32_t>::max()) return static_cast<int64_t>(points);
  fail(axis->location, Code::IndexTooLarge, "use smaller factors, or fuse fewer axes",
       "the axis '{}' of '{}' would run over {} x {} points, too many for a 32-bit index",
       axis->name(), stage.name(), a, b);
}

// The axis itself or what it became.
bool is_bound_to_thread(const Schedule& schedule, const Stage& stage, const IterVar& axis) {
  if (thread_of(schedule, {stage.id, axis})) return true;
  return std::any_of(stage.relations.begin(), stage.relations.end(), [&](const Relation& r) {
    const std::vector<IterVar> operands = operands_of(r), results = results_of(r);
    const auto is_axis = [&](const IterVar& operand) { return operand.same_as(axis); };
    return std::any_of(operands.begin(), operands.end(), is_axis) &&
           std::any_of(results.begin(), results.end(), [&](const IterVar& result) {
             return is_bound_to_thread(schedule, stage, result);
           });
  });
}

void add_split(const Schedule& schedule, const Stage& stage, const SplitRelation& r,
               AxisExtents& extents) {
  const int64_t parent = extents.at(r.parent);
  const bool exact = r.exact || is_bound_to_thread(schedule, stage, r.outer) ||
                     is_bound_to_thread(schedule, stage, r.inner);
  const int64_t wanted = r.factor > 0 ? r.factor : r.nparts;
  const int64_t given = exact ? wanted : std::min(wanted, parent);
  const int64_t other = parent / given + (parent % given != 0 ? 1 : 0);
  checked_product(stage, r.parent, given, other);
  extents[r.outer] = r.factor > 0 ? other : given;
  extents[r.inner] = r.factor > 0 ? given : other;
}

}  // namespace

void add_derived_extents(const Schedule& schedule, const Stage& stage, AxisExtents& extents) {
  for (const IterVar& axis : unit_axes(stage)) extents[axis] = 1;
  for (const Relation& r : stage.relations) {
    if (const auto* fuse = std::get_if<FuseRelation>(&r)) {
      extents[fuse->fused] =
          checked_product(stage, fuse->fused, extents.at(fuse->outer), extents.at(fuse->inner));
    } else {
      add_split(schedule, stage, std::get<SplitRelation>(r), extents);
    }
  }
}

namespace {

// `past_end` is given an axis that a split does not divide, its extent, and its value, which may be
// changed.
void add_values(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                FunctionRef<void(const IterVar&, int64_t, Expr&)> past_end) {
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    if (const auto* fuse = std::get_if<FuseRelation>(&*r)) {
      const int64_t inner = extents.at(fuse->inner);
      values[fuse->outer] = floordiv(values.at(fuse->fused), inner);
      values[fuse->inner] = floormod(values.at(fuse->fused), inner);
    } else {
      const auto& split = std::get<SplitRelation>(*r);
      const int64_t inner = extents.at(split.inner), parent = extents.at(split.parent);
      Expr value = values.at(split.outer) * inner + values.at(split.inner);
      if (extents.at(split.outer) * inner != parent) past_end(split.parent, parent, value);
      values[split.parent] = value;
    }
  }
}

}  // namespace

void add_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                      FunctionRef<void(const IterVar&, const Expr&)> guard) {
  add_values(stage, extents, values, [&](const IterVar& axis, int64_t extent, const Expr& value) {
    guard(axis, value < make_int(extent));
  });
}

void add_clamped_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values) {
  add_values(stage, extents, values, [](const IterVar&, int64_t extent, Expr& value) {
    value = min(value, make_int(extent - 1));
  });
}

void add_values_below(const Stage& stage, const AxisExtents& extents, AxisValues& values) {
  for (const IterVar& axis : unit_axes(stage)) values[axis] = make_int(0);
  for (const Relation& r : stage.relations) {
    if (const auto* fuse = std::get_if<FuseRelation>(&r)) {
      values[fuse->fused] =
          values.at(fuse->outer) * extents.at(fuse->inner) + values.at(fuse->inner);
    } else {
      const auto& split = std::get<SplitRelation>(r);
      const int64_t inner = extents.at(split.inner);
      values[split.outer] = floordiv(values.at(split.parent), inner);
      values[split.inner] = floormod(values.at(split.parent), inner);
    }
  }
}

bool comes_from_data(const Stage& stage, const IterVar& axis) {
  if (axis->kind == IterKind::Data) return true;
  return std::any_of(stage.relations.begin(), stage.relations.end(), [&](const Relation& r) {
    const std::vector<IterVar> operands = operands_of(r), results = results_of(r);
    return std::any_of(results.begin(), results.end(),
                       [&](const IterVar& result) { return result.same_as(axis); }) &&
           std::any_of(operands.begin(), operands.end(),
                       [&](const IterVar& operand) { return comes_from_data(stage, operand); });
  });
}

}  // namespace texloom::schedule
