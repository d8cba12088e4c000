#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Leaves padding by zeros to the sampler, where that is what it does.
//
// Does: takes out of `select(condition, texel, 0)` each part of the condition that holds wherever
// the texel lies inside its image, if the texture's contract is that the image is exactly its
// rectangle (exact_image). Outside of an image every texel is zero: the border of images of four
// channels (OpenCL C 1.2, 6.12.14.1.1). What is proven is that the coordinates are outside of the
// image where the part does not hold and the others do: by intervals, after the part's negation
// was assumed. So a test of the axis that is outermost in a row or column goes, and one of an axis
// inside of it, beyond whose end the next row of another lies, stays. So does a part in front of
// one that reads memory or may fail, which it may be the guard of.
//
// Stands behind simplify_program, which says conditions and coordinates in the same terms, and
// before partition_loops, which has no copy to make for a test that is gone.
//
// Before and after: stage Kernels.
//
//   select(1 <= y && y < 9, texture2d.load(T, x=0, y=y - 1: float32x4), x4(0.0))
//   -> texture2d.load(T, x=0, y=y - 1: float32x4)            if T has 8 rows, and no more
void drop_border_guards(Lowering& lowering);

}  // namespace texloom::lower
