#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: leaves zero padding to the sampler if the results are the same.
//   Removes from `select(condition, texel, 0)` each part of the condition that holds whenever the
//   texel is inside its image, if the texture's contract says that the image is exactly its
//   rectangle (exact_image): texels outside an image are zero, like the border of four-channel
//   images (OpenCL C 1.2, 6.12.14.1.1). To remove a part, the pass assumes its negation and the
//   other parts, and proves with intervals that the coordinates are outside the image. It can
//   therefore remove a test of the outermost axis of the rows or the columns. A test of an inner
//   axis stays, because its end is followed by the next index of an outer axis, not by the border.
//   A part also stays if a later part reads memory or may fail, because it may guard the later
//   part.
// Requires: stage kernels.
// Ensures: stage kernels.
// Order: after simplify_program, which writes conditions and coordinates in the same terms; before
//   partition_loops, which would make copies for the removed tests.
// Example:
//   select(1 <= y && y < 9, texture2d.load(T, x=0, y=y - 1: float32x4), x4(0.0))
//   -> texture2d.load(T, x=0, y=y - 1: float32x4)            if T has 8 rows, and no more
void drop_border_guards(Lowering& lowering);

}  // namespace texloom::lower
