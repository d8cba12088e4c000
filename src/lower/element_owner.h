// Of threads that compute one element of an attached stage, the one that stores it to an array that
// all of them see.
#pragma once

#include <optional>
#include <vector>

#include "ir/arith/ranges.h"
#include "schedule/bounds.h"

namespace texloom::lower {

// A loop around an attached stage.
struct LoopAround {
  ir::Expr var;
  ir::Expr extent;
  bool is_thread = false;
  bool ends_early = false;  // may run less often than its extent says (early_end.h)
};

// What has to hold for the element at `places` of the stage's region to be stored, so that one
// thread alone stores each element that is computed for a reader; nothing where no such condition
// is known.
//
// Of threads that compute one region it is the first. Threads whose regions are known to have no
// element in common (same_thread.h) each store their own. Of regions that overlap along an axis,
// which begin at distances that follow from the loop variables alone,
//   bx*4 .. bx*4 + 6, for bx < 3
// the last one that holds the element stores it: there !(bx + 1 < 3 && bx*4 + i >= bx*4 + 4).
// `ranges` are those of the variables of the loops and of the places.
std::optional<ir::Expr> stores_element(const schedule::StageBounds& region,
                                       const std::vector<LoopAround>& loops,
                                       const ir::Exprs& places, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
