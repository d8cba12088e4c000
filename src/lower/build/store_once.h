// Chooses which thread stores an element of an attached stage that several threads compute.
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
  bool ends_early = false;  // may run fewer iterations than its extent (early_end.h)
};

// The condition under which a thread stores the element at `places` of the stage's region, such
// that exactly one thread stores each element that is computed for a reader. nullopt if no such
// condition is known.
//
// * If several threads compute one region, the first of them stores it.
// * If the regions of threads are known to be disjoint (equal_indices.h), each thread stores its
//   own elements.
// * If regions overlap along an axis, and their distances depend only on the loop variables, the
//   last region that contains the element stores it. For the regions bx*4 .. bx*4 + 6 with bx < 3
//   the condition is !(bx + 1 < 3 && bx*4 + i >= bx*4 + 4).
// `ranges` are the ranges of the variables of the loops and of the places.
std::optional<ir::Expr> stores_element(const schedule::StageBounds& region,
                                       const std::vector<LoopAround>& loops,
                                       const ir::Exprs& places, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
