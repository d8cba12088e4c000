// Bound inference: the part of each stage that has to be computed at its attachment point, and the
// extents of its loops.
//
// Readers are processed before the stages that they read. A stage computes the union of what its
// readers read while the loops inside its attachment point run and the loops outside are fixed. The
// memory scope decides which thread loops further out also count as running: `shared` memory serves
// all threads of a block, `global` memory and textures serve the whole grid, `local` memory one
// thread. Regions are boxes, clamped to the shape of the tensor where that is known to be safe.
// Along an axis of symbolic extent, a region has a constant size if one is known; otherwise it is
// the whole axis.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "schedule/bounds/strided_axis.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

struct LeafLoop {
  ir::IterVar axis;
  ir::Expr var;     // the loop variable, from 0
  ir::Expr extent;  // a constant, or an expression of symbols
  ir::Expr end;     // where the loop ends: at the extent, or earlier (early_end.h)
};

struct StageBounds {
  // For each data axis: the first computed logical index and the number of computed indices. `min`
  // is an expression over variables of the enclosing loops, `extent` a constant or an expression
  // over symbols.
  std::vector<ir::Expr> min;
  std::vector<ir::Expr> extent;
  // The logical index of the first element of the buffer, and the number of elements. These equal
  // `min` and `extent`, except for the update of a scan, which computes a row of the scan's whole
  // buffer.
  std::vector<ir::Expr> buffer_min;
  std::vector<ir::Expr> buffer_extent;
  // The indices along each data axis that have elements in the buffer: consecutive indices, or, in
  // `local` memory, only the indices that readers read.
  std::vector<StridedAxis> strides;
  std::vector<LeafLoop> loops;  // the stage's leaves, in order
  // For each data axis, over the loop variables: the position in the stage's buffer. The logical
  // index is buffer_min + the offset of the position.
  std::vector<ir::Expr> position;
  // The logical index for each axis variable of the operation, including reduction axes.
  ir::Substitution index;
  // `min` and `index` with each point past the end of an axis moved to the last point of the axis,
  // so that regions do not grow. Equal to `min` and `index` where all `clamps` hold.
  std::vector<ir::Expr> clamped_min;
  ir::Substitution clamped_index;  // empty if there are no clamps: then it would be `index`
  // The guards that hold for points inside the axes that splits do not divide: axes of this stage
  // and, if its memory is private, of its only reader.
  std::vector<ir::Expr> clamps;
  // For each data axis: the logical indices that are computed at all, from `first` to before `end`.
  // These are the indices of the whole tensor or, if the bounds are narrow, the indices that
  // readers need; if readers need none, `first` and `end` are 0. `first` is constant.
  std::vector<ir::Expr> first, end;
  // The conditions for a point to be computed: over data axes only, and over reduction axes.
  std::vector<ir::Expr> guards, reduction_guards;

  const LeafLoop& loop_of(const ir::IterVar& leaf) const;
  // Whether no point is computed.
  bool is_empty() const { return !end.empty() && ir::is_int(end.front(), 0); }
};

struct Bounds {
  // Indexed by stage id. Scans have only their loop; placeholders and externs have empty bounds.
  std::vector<StageBounds> stages;

  StageBounds& of(StageId id) { return stages[static_cast<size_t>(id)]; }
  const StageBounds& of(StageId id) const { return stages[static_cast<size_t>(id)]; }

  ir::arith::Ranges ranges;  // of symbols and of all loop variables
};

// Whether a stage computes all points of its region that its tensor has, or only those that a
// reader needs. InShape and Needed differ if the stage's tensor is longer than its reader's: the
// reader's last tile may exceed the reader's tensor, but not the stage's. Narrow bounds cost a
// guard, but read nothing for the points that no reader needs.
enum class Points : std::uint8_t { InShape, Needed };

// Requires that inlined stages have been substituted into their readers. Fails with BadShape (an
// extent below 1), AttachNotFound or AttachCycle.
Bounds infer_bounds(const Schedule& schedule, Points points = Points::InShape);

}  // namespace texloom::schedule
