// Replaces loops by a tensor intrinsic.
#pragma once

#include <optional>

#include "lower/build/stage_results.h"
#include "schedule/bounds/bounds.h"
#include "support/function_ref.h"

namespace texloom::lower {

// How the loops of a schedule access memory, for a stage with these bounds.
struct StageAccess {
  // Replaces the reads of tensors in an expression by loads.
  FunctionRef<ir::Expr(const ir::Expr&, const schedule::StageBounds&)> read;
  // Where the stage stores its result.
  FunctionRef<ResultElement(const schedule::StageBounds&)> result;
};

// The position of the stage's outermost tensorized loop; nullopt if it has none.
std::optional<size_t> tensorized_loop(const schedule::Stage& stage,
                                      const schedule::StageBounds& bounds);

struct TensorizedLoops {
  // Initializes the results of a reduction that outer loops divide into steps; replaces the
  // initialization of each element. Empty if the first step initializes them.
  ir::Stmt reset;
  ir::Stmt step;  // replaces the loops
};

// Finds the parts of tensors that the loops from the tensorized one on read and write, and replaces
// the views in the intrinsic's statements by these parts.
//
// The loops have to cover a box of the stage's index space completely in each iteration of the
// enclosing loops, and to compute what the intrinsic computes: the same expression, after
// simplification, of elements laid out as in the intrinsic's inputs. The stage's axes that precede
// those of the intrinsic have extent 1. A scalar has one value at all its occurrences, and the
// value depends only on the enclosing loops. The resulting statements access the stage's buffers
// and the buffers that the stage reads, in terms of the variables of the enclosing loops. Fails
// with TensorizeMismatch, at the line of the directive.
//
//     C[y * 4 + i] = C[y * 4 + i] + A[y * 4 + i, k]      c[i] = c[i] + a[i, 0]
//     i < 4                                         ->   C[y * 4 + i.1] = C[y * 4 + i.1] + A[...]
TensorizedLoops tensorized(const schedule::Schedule& schedule, schedule::StageId id,
                           const schedule::Bounds& bounds, const StageAccess& access);

}  // namespace texloom::lower
