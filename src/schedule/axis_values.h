// The arithmetic of splits and fusions: how long the axes of a stage are, and which value each has
// where the loops stand.
#pragma once

#include <unordered_map>

#include "schedule/schedule.h"
#include "support/function_ref.h"

namespace texloom::schedule {

using AxisExtents = std::unordered_map<ir::IterVar, int64_t, RefHash, RefSame>;
using AxisValues = std::unordered_map<ir::IterVar, ir::Expr, RefHash, RefSame>;

// Adds the extents of all other axes to those of the operation's own. Parts of a split shrink to
// their parent, unless they are exact or threads. Fails with IndexTooLarge.
void add_derived_extents(const Schedule& schedule, const Stage& stage, AxisExtents& extents);

// Adds the values of all other axes to those of the leaves. Where a split does not divide, `guard`
// is given the axis and what must hold for the point to be one of the axis.
void add_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                      FunctionRef<void(const ir::IterVar&, const ir::Expr&)> guard);
// The same, but a point past the end of an axis is the last one of it.
void add_clamped_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values);

// Adds the values of all other axes to those of the operation's own. Unit axes are 0.
void add_values_below(const Stage& stage, const AxisExtents& extents, AxisValues& values);

// Whether a data axis of the operation has become this axis, or a part of it.
bool comes_from_data(const Stage& stage, const ir::IterVar& axis);

}  // namespace texloom::schedule
