#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: leaves padding by zeros to the sampler where the two are the same.
//   Takes out of `select(condition, texel, 0)` each part of the condition that holds wherever the
//   texel lies inside its image, if the contract of the texture is that the image is exactly its
//   rectangle (exact_image): texels outside an image are zero, as the border of images of four
//   channels is (OpenCL C 1.2, 6.12.14.1.1). It proves by intervals, after assuming the negation of
//   the part and the other parts, that the coordinates are outside of the image. So a test of the
//   axis that is outermost in a row or a column goes. A test of an axis inside of it stays, because
//   the next row of another one follows its end; so does a part in front of one that reads memory
//   or may fail, because it may guard it.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after simplify_program, which writes conditions and coordinates in the same terms; before
//   partition_loops, which makes no copy for a test that is gone.
// Example:
//   select(1 <= y && y < 9, texture2d.load(T, x=0, y=y - 1: float32x4), x4(0.0))
//   -> texture2d.load(T, x=0, y=y - 1: float32x4)            if T has 8 rows, and no more
void drop_border_guards(Lowering& lowering);

}  // namespace texloom::lower
