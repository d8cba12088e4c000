#include "schedule/bounds/axis_values.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "schedule/attach.h"
#include "schedule/derived_axes.h"
#include "support/int128.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The number of points of an axis, including points past its end. The number must fit int32, like
// all indices.
int64_t checked_product(const Stage& stage, const IterVar& axis, int64_t a, int64_t b) {
  const int128 points = static_cast<int128>(a) * b;
  if (points <= std::numeric_limits<int32_t>::max()) return static_cast<int64_t>(points);
  fail(axis->location, Code::IndexTooLarge, "use smaller factors, or fuse fewer axes",
       "the axis '{}' of '{}' would run over {} x {} points, too many for a 32-bit index",
       axis->name(), stage.name(), a, b);
}
Expr checked_product(const Stage& stage, const IterVar& axis, const Expr& a, const Expr& b) {
  const int64_t *x = int_value(a), *y = int_value(b);
  if (x == nullptr || y == nullptr) return arith::simplify(a * b);
  return make_int(checked_product(stage, axis, *x, *y));
}

// The number of parts of this size in the axis.
Expr parts_of(const Stage& stage, const IterVar& axis, const Expr& extent, int64_t size) {
  if (const int64_t* value = int_value(extent)) {
    const int64_t parts = *value / size + (*value % size != 0 ? 1 : 0);
    checked_product(stage, axis, size, parts);
    return make_int(parts);
  }
  checked_product(stage, axis, size, 2);  // extents of up to 2^30, rounded up, fit int32
  return arith::simplify(floordiv(extent + (size - 1), size));
}

using AxisSet = std::unordered_set<IterVar, RefHash, RefSame>;

bool any_in(const std::vector<IterVar>& axes, const AxisSet& set) {
  return std::any_of(axes.begin(), axes.end(), [&](const IterVar& a) { return set.contains(a); });
}

// The axes that are bound to threads, and all axes from which splits and fusions derive them.
AxisSet parts_in_threads(const Schedule& schedule, const Stage& stage) {
  AxisSet found;
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    const std::vector<IterVar> results = results_of(*r);
    for (const IterVar& axis : results) {
      if (thread_of(schedule, {stage.id, axis})) found.insert(axis);
    }
    if (!any_in(results, found)) continue;
    for (const IterVar& axis : operands_of(*r)) found.insert(axis);
  }
  return found;
}

void add_split(const Stage& stage, const SplitRelation& r, const AxisSet& in_threads,
               AxisExtents& extents) {
  const Expr parent = extents.at(r.parent);
  const int64_t* whole = int_value(parent);
  const bool exact = r.exact || any_in({r.outer, r.inner}, in_threads);
  const int64_t wanted = r.factor > 0 ? r.factor : r.nparts;
  const int64_t given = exact || whole == nullptr ? wanted : std::min(wanted, *whole);
  const Expr other = parts_of(stage, r.parent, parent, given);
  extents[r.outer] = r.factor > 0 ? other : make_int(given);
  extents[r.inner] = r.factor > 0 ? make_int(given) : other;
}

}  // namespace

void add_derived_extents(const Schedule& schedule, const Stage& stage, AxisExtents& extents) {
  for (const IterVar& axis : unit_axes(stage)) extents[axis] = make_int(1);
  const AxisSet in_threads = parts_in_threads(schedule, stage);
  for (const Relation& r : stage.relations) {
    if (const auto* fuse = std::get_if<FuseRelation>(&r)) {
      extents[fuse->fused] =
          checked_product(stage, fuse->fused, extents.at(fuse->outer), extents.at(fuse->inner));
    } else {
      add_split(stage, std::get<SplitRelation>(r), in_threads, extents);
    }
  }
}

namespace {

constexpr uint32_t kMostParts = 1 << 13;  // nodes of the index expression of an axis

// outer * extent + inner; or x if outer is x / extent and inner is x % extent, so that alternating
// splits and fusions do not double the expression each time.
Expr joined(const Stage& stage, const IterVar& axis, const Expr& outer, const Expr& extent,
            const Expr& inner) {
  const auto *quotient = as<Binary>(outer), *rest = as<Binary>(inner);
  const bool whole = quotient != nullptr && rest != nullptr && quotient->op == BinaryOp::FloorDiv &&
                     rest->op == BinaryOp::FloorMod && quotient->a.same_as(rest->a) &&
                     equal(quotient->b, extent) && equal(rest->b, extent);
  if (whole) return quotient->a;
  Expr value = outer * extent + inner;
  if (value->size <= kMostParts) return value;
  fail(axis->location, Code::ProgramTooLarge, "split, reorder and fuse its axes fewer times",
       "the index of the axis '{}' of '{}' has more than {} parts", axis->name(), stage.name(),
       kMostParts);
}

// Calls `past_end` with each axis that a split does not divide, its extent, and its value, which
// `past_end` may change.
void add_values(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                FunctionRef<void(const IterVar&, const Expr&, Expr&)> past_end) {
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    if (const auto* fuse = std::get_if<FuseRelation>(&*r)) {
      const Expr &inner = extents.at(fuse->inner), fused = values.at(fuse->fused);
      if (is_int(extents.at(fuse->outer), 1)) {
        // The fused axis may run past its end, up to a whole texel. The inner axis takes these
        // values, since the outer one has a single value.
        values[fuse->outer] = make_int(0, fused->type);
        values[fuse->inner] = fused;
        continue;
      }
      values[fuse->outer] = floordiv(fused, inner);
      values[fuse->inner] = floormod(fused, inner);
    } else {
      const auto& split = std::get<SplitRelation>(*r);
      const Expr &inner = extents.at(split.inner), &parent = extents.at(split.parent);
      Expr value =
          joined(stage, split.parent, values.at(split.outer), inner, values.at(split.inner));
      if (!arith::prove_equal(extents.at(split.outer) * inner, parent, {})) {
        past_end(split.parent, parent, value);
      }
      values[split.parent] = value;
    }
  }
}

}  // namespace

void add_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                      FunctionRef<void(const IterVar&, const Expr&)> guard) {
  add_values(stage, extents, values,
             [&](const IterVar& axis, const Expr& extent, const Expr& value) {
               guard(axis, value < extent);
             });
}

void add_clamped_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values) {
  add_values(stage, extents, values, [](const IterVar&, const Expr& extent, Expr& value) {
    value = min(value, extent - 1);
  });
}

void add_values_below(const Stage& stage, const AxisExtents& extents, AxisValues& values) {
  for (const IterVar& axis : unit_axes(stage)) values[axis] = make_int(0);
  for (const Relation& r : stage.relations) {
    if (const auto* fuse = std::get_if<FuseRelation>(&r)) {
      values[fuse->fused] = joined(stage, fuse->fused, values.at(fuse->outer),
                                   extents.at(fuse->inner), values.at(fuse->inner));
    } else {
      const auto& split = std::get<SplitRelation>(r);
      const Expr& inner = extents.at(split.inner);
      values[split.outer] = floordiv(values.at(split.parent), inner);
      values[split.inner] = floormod(values.at(split.parent), inner);
    }
  }
}

bool comes_from_data(const Stage& stage, const IterVar& axis) {
  AxisSet data(stage.op->axes.begin(), stage.op->axes.end());
  for (const Relation& r : stage.relations) {
    if (!any_in(operands_of(r), data)) continue;
    for (const IterVar& part : results_of(r)) data.insert(part);
  }
  return axis->kind == IterKind::Data || data.contains(axis);
}

}  // namespace texloom::schedule
