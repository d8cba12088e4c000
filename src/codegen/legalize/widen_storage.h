// Widens types that the dialect has only in memory.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen {

// Purpose: computes values in types that the dialect supports.
//   * If the dialect has no half values, float16 is computed in float32, and every inexact float16
//     operation is followed by a rounding to float16, written float32(float16(x)). Arithmetic and
//     sqrt give the results of IEEE half arithmetic, since float32 has at least 2 * 11 + 2 bits
//     (Figueroa, 1995). Loaded values are already float16 values, and exact results are not
//     rounded. Arrays of a kernel become float32; arguments stay float16, and storing rounds.
//   * If the dialect has half values, float16 stays, also in texels. Arithmetic and sqrt give the
//     same bits, except for results below 2^-14 on a device without half denormals; other functions
//     always use float32, because their half versions may be less precise.
//   * bfloat16 is also computed in float32, which has enough digits for its arithmetic, too.
//   * bools are loaded as uint8 and compared with 0, and stored as 0 or 1, unless memory can hold
//     bools.
//   * Texels are float32, int32 or uint32, the types of the image functions. Values have the
//     texture's element type before they are widened, so that no image write has to round or
//     saturate, which would be implementation-defined.
// Requires: stage kernels.
// Ensures: stage legalized; the rules Types, Memory and Texels of verify_dialect.h hold, except for
//   the vectors of bools that later steps convert. Fails with UnsupportedType if a value is of a
//   type that the dialect lacks even in memory, as Metal's language lacks float64.
// Order: after the passes that depend on the user's types, before those that choose operators.
// Example:
//   f[i] = float32(x[i] * x[i])   (x: float16)   ->   f[i] = float32(float16(x[i] * x[i]))
ir::Stmt widen_storage(const ir::Stmt& body, const Dialect& dialect);

// Purpose: refuses a kernel whose arrays in shared or local memory exceed the target's limits,
// which
//   the pipeline has checked with the types of the user's program: float16 and bfloat16 that are
//   computed in float32 take twice as much.
// Requires: stage legalized.
// Ensures: stage legalized. Fails with LocalMemoryTooLarge.
// Order: after widen_storage, which changes the types of arrays.
// Example:
//   on a target with 48 KB of shared memory:
//   alloca S: shared float32[20000]   (float16 before)   ->   error[TL4004]
void check_limits(const ir::Kernel& kernel, const ir::Target& target);

// The nearest float16 or bfloat16 value; ties to even, overflow to infinity.
double nearest_half(double value);
double nearest_bfloat(double value);

}  // namespace texloom::codegen
