// What a tensor intrinsic becomes where it stands for loops.
#pragma once

#include <optional>

#include "lower/places.h"
#include "schedule/bounds.h"
#include "support/function_ref.h"

namespace texloom::lower {

// How the loops of the schedule access memory, for a stage with these bounds.
struct StageAccess {
  FunctionRef<ir::Expr(const ir::Expr&, const schedule::StageBounds&)> read;  // of an expression
  FunctionRef<Place(const schedule::StageBounds&)> place;                     // of its result
};

// The number of the stage's loop that is tensorized, the outermost of several; nothing where none
// is.
std::optional<size_t> tensorized_loop(const schedule::Stage& stage,
                                      const schedule::StageBounds& bounds);

struct TensorizedLoops {
  // Starts the results of a reduction that loops further out divide into steps: in place of the
  // start of each of its elements. Empty where the first step does that.
  ir::Stmt reset;
  ir::Stmt step;  // in place of the loops
};

// What it does: finds the parts of tensors that the loops from the tensorized one on read and
// write, and puts them in the place of the views in the intrinsic's statements.
// Why here: the parts are known once bounds are inferred and buffers chosen, and the loops need
// not be made. A part of build_loops, not a pass.
// Before: loops run over a box of the stage's index space, whole for each turn of the loops
// around, and compute there what the intrinsic's computation says: the same expression, after
// simplification, of elements that lie in the tensors as the computation's lie in its inputs. Axes
// in front of the intrinsic's own have one index. A scalar stands for one value in all its places,
// which the loops around determine. After: statements over the stage's buffers and those that it
// reads, of the variables of the loops around.
// Fails with TensorizeMismatch, at the line of the directive.
//
//     C[y * 4 + i] = C[y * 4 + i] + A[y * 4 + i, k]      c[i] = c[i] + a[i, 0]
//     i < 4                                         ->   C[y * 4 + i.1] = C[y * 4 + i.1] + A[...]
TensorizedLoops tensorized(const schedule::Schedule& schedule, schedule::StageId id,
                           const schedule::Bounds& bounds, const StageAccess& access);

}  // namespace texloom::lower
