// Bound inference: which part of each stage must be computed where it stands, and what its loops
// run over.
//
// Readers come before what they read. A stage is asked for the union of what its readers read
// while the loops inside its attachment point run and those outside stand still. Its scope
// relaxes thread loops further out: `shared` memory serves all threads of a block, `global`
// memory and textures the whole grid, `local` memory one thread alone. Regions are boxes,
// clamped to the tensor's shape where that is known to be right. Along an axis of symbolic extent a
// region has a constant size where that is known, and is the whole axis where it is not.
#pragma once

#include <vector>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "schedule/schedule.h"
#include "schedule/strided_axis.h"

namespace texloom::schedule {

struct LeafLoop {
  ir::IterVar axis;
  ir::Expr var;     // the loop variable, from 0
  ir::Expr extent;  // a constant, or an expression of symbols
  ir::Expr end;     // what it runs to: the extent, or less, which loops around tell (early_end.h)
};

struct StageBounds {
  // For each data axis: the first logical index computed and how many follow. `min` is an
  // expression over the enclosing loops' variables, `extent` a constant or one over symbols.
  std::vector<ir::Expr> min;
  std::vector<ir::Expr> extent;
  // The logical index of the first element of the buffer, and how many it has: `min` and `extent`,
  // but all of the update of a scan, of which a row is computed and which lies in the scan's
  // buffer.
  std::vector<ir::Expr> buffer_min;
  std::vector<ir::Expr> buffer_extent;
  // Which indices these are: of a `local` stage, those that its readers read, if they leave out
  // some; of others, consecutive ones.
  std::vector<StridedAxis> strides;
  std::vector<LeafLoop> loops;  // the stage's leaves, in order
  // For each data axis, over the loop variables: the place in the stage's buffer. The logical
  // index is buffer_min + the offset of the position.
  std::vector<ir::Expr> position;
  // The logical index of each axis variable of the operation, reduction axes too.
  ir::Substitution index;
  // The same for points where all `clamps` hold, which are among the guards. Other points, which
  // are not computed, have the index of one of those: so their reads add nothing to a region.
  std::vector<ir::Expr> clamped_min;
  ir::Substitution clamped_index;  // empty where there are no clamps: it would be `index`
  std::vector<ir::Expr> clamps;
  // What must hold for a point to be computed, in data axes alone, and in reduction axes.
  std::vector<ir::Expr> guards, reduction_guards;

  const LeafLoop& loop_of(const ir::IterVar& leaf) const;
};

struct Bounds {
  // By stage id. Of scans the loop alone, of placeholders and externs nothing.
  std::vector<StageBounds> stages;

  StageBounds& of(StageId id) { return stages[static_cast<size_t>(id)]; }
  const StageBounds& of(StageId id) const { return stages[static_cast<size_t>(id)]; }

  ir::arith::Ranges ranges;  // of symbols and of all loop variables
};

// Inlined stages have been written into their readers already. Fails with BadShape (an extent
// below 1), AttachNotFound, AttachCycle.
Bounds infer_bounds(const Schedule& schedule);

}  // namespace texloom::schedule
