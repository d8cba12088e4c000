// Types that live in memory only.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: gives values the types that the dialect computes in.
//   * Where half values are missing, float16 is computed in float32, and every inexact float16
//     operation is followed by a rounding to float16, written float32(float16(x)). The results of
//     + - * / and sqrt are those of IEEE half arithmetic, since float32 has at least 2 * 11 + 2
//     bits (Figueroa, 1995). Loads are float16 values already, and roundings of exact results are
//     left out. Arrays of a kernel become float32, arguments stay float16.
//   * Where the dialect has half values, float16 stays, in texels, too. + - * / and sqrt give the
//     same bits, except for results below 2^-14 on a device without half denormals; other
//     functions, whose half versions may be less precise, are those of float32 in any case.
//   * bools are loaded as uint8 and compared with 0, and stored as 0 or 1, unless memory holds
//     them.
//   * Texels are float32, int32 or uint32, as the image functions have it. Values are of the
//     texture's element type before they are widened, so that no image write has to round or to
//     saturate, which would be up to the implementation.
// Requires: stage kernels.
// Ensures: stage legalized; the rules Types, Memory and Texels of verify_dialect.h hold, except for
//   the vectors of bools that later steps shape. Fails with UnsupportedType where a value is of a
//   type that the dialect lacks even in memory: bfloat16.
// Order: after the passes that build on the user's types, before those that choose operators.
// Example:
//   y[i] = x[i] * x[i]    (float16)    ->    y[i] = float32(float16(x[i] * x[i]))
ir::Stmt widen_storage(const ir::Stmt& body, const Dialect& dialect);

// The nearest float16 value; ties to even, overflow to infinity.
double nearest_half(double value);

}  // namespace texloom::codegen
