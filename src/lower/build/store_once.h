// Chooses the one thread that stores an element of an attached stage which several threads compute.
#pragma once

#include <optional>
#include <vector>

#include "ir/arith/ranges.h"
#include "schedule/bounds/bounds.h"

namespace texloom::lower {

// A loop around an attached stage.
struct LoopAround {
  ir::Expr var;
  ir::Expr extent;
  bool is_thread = false;
  bool ends_early = false;  // may run less often than its extent says (early_end.h)
};

// The condition under which the element at `places` of the stage's region is stored, so that
// exactly one thread stores each element that is computed for a reader. Nothing if no such
// condition is known.
//
// * If several threads compute one region, the first of them stores it.
// * Threads whose regions are known to have no element in common (equal_indices.h) each store their
//   own.
// * If regions overlap along an axis, and their distances follow from the loop variables alone, the
//   last region that holds the element stores it. For the regions bx*4 .. bx*4 + 6 with bx < 3 the
//   condition is !(bx + 1 < 3 && bx*4 + i >= bx*4 + 4).
// `ranges` are those of the variables of the loops and of the places.
std::optional<ir::Expr> stores_element(const schedule::StageBounds& region,
                                       const std::vector<LoopAround>& loops,
                                       const ir::Exprs& places, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
