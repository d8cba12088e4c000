// Rewrites vector conditions for OpenCL C.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// Purpose: brings vectors of bools into the form that OpenCL C supports. In OpenCL C, a
//   comparison of vectors gives integers as wide as the operands, 0 or -1, and select() takes a
//   condition as wide as its values. Therefore a vector of bools that is the condition of a Select
//   gets the width that this Select needs: integer operands of another width are converted before
//   the comparison; other results become integers that are compared with 0. Elsewhere vectors of
//   bools become uint8: variables, lanes, the sources of casts. A bool that is the same for all
//   lanes is a scalar condition, under which only the chosen operand is evaluated.
// Requires: stage legalized; comparisons, ands, ors, nots, Selects, Packs, Broadcasts and Lets of
//   any bools.
// Ensures: stage legalized; a vector of bools is a comparison, or an and, or or not of comparisons,
//   whose elements are as wide as the values of the enclosing Select.
// Order: after the passes that change widths.
// Example:
//   select(a < b, x, y)    (int8x4, float32x4)
//       ->    select(int32x4(a) < int32x4(b), x, y)
ir::Stmt shape_vector_conditions(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
