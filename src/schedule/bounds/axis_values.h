// The arithmetic of splits and fusions: the extents of a stage's axes, and their values in terms of
// the loops.
#pragma once

#include <unordered_map>

#include "schedule/schedule.h"
#include "support/function_ref.h"

namespace texloom::schedule {

// Constants, or expressions of symbols.
using AxisExtents = std::unordered_map<ir::IterVar, ir::Expr, RefHash, RefSame>;
using AxisValues = std::unordered_map<ir::IterVar, ir::Expr, RefHash, RefSame>;

// Adds the extents of all derived axes, given the extents of the operation's axes. Parts of a split
// shrink to their parent unless the split is exact, the parts are bound to threads, or the extent
// of the parent is symbolic. Fails with IndexTooLarge.
void add_derived_extents(const Schedule& schedule, const Stage& stage, AxisExtents& extents);

// Adds the values of all other axes, given the values of the leaves. If a split does not divide its
// parent, calls `guard` with the parent and the condition for a point to be inside it.
void add_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values,
                      FunctionRef<void(const ir::IterVar&, const ir::Expr&)> guard);
// Like add_values_above(), but a point past the end of an axis becomes the last point of the axis.
void add_clamped_values_above(const Stage& stage, const AxisExtents& extents, AxisValues& values);

// Adds the values of all derived axes, given the values of the operation's axes. Unit axes are 0.
void add_values_below(const Stage& stage, const AxisExtents& extents, AxisValues& values);

// Whether the axis derives from a data axis of the operation.
bool comes_from_data(const Stage& stage, const ir::IterVar& axis);

}  // namespace texloom::schedule
