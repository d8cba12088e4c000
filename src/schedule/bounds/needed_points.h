// Which points of a stage its readers need.
#pragma once

#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"
#include "schedule/stage_links.h"

namespace texloom::schedule {

// Limits `first` and `end` of the stage's bounds, initially the whole tensor, to the points that
// its readers read. The bounds of the readers must be known. Whole texels stay whole. Does not
// change outputs and stages of scans, which may have other readers.
//
// Along an axis of constant extent, conditions around the reads count too; a stage whose reads
// never happen has no points. Along an axis of symbolic extent, only the end moves, and only if it
// is proven to be less: `i < n + 2` becomes `i < n` if the readers read the indices up to n - 1.
void limit_points(const Schedule& schedule, const StageLinks& links, const Stage& stage,
                  Bounds& bounds);

}  // namespace texloom::schedule
