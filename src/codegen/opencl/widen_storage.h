// Types that live in memory only.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: gives values the types that the device's OpenCL C computes in.
//   * without half arithmetic, float16 is computed in float32, and every inexact float16 operation
//     is followed by a rounding to float16, written float32(float16(x)). The results of + - * / and
//     sqrt are those of IEEE half arithmetic, since float32 has at least 2 * 11 + 2 bits (Figueroa,
//     1995). Loads are float16 values already, and roundings of what is exact are left out. Arrays
//     of a kernel become float32, arguments stay float16. With half arithmetic (Target) float16
//     stays what it is, in texels too. + - * / and sqrt give the same bits, but for results below
//     2^-14 on a device without half denormals; other functions, of which the half ones may be less
//     precise, are float32's all the same.
//   * bools are loaded as uint8 and compared with 0, and stored as 0 or 1.
//   * texels are float32, int32 or uint32, as the image functions have it. Values are of the
//     texture's element type before they are widened, so that no image write has to round or to
//     saturate: what it would do is up to the implementation.
// Why here: after the passes that build on the user's types, before those that choose operators.
// Before: stage Kernels. After: without half arithmetic float16 stands in memory and in roundings;
// bool vectors are not loaded, TextureLoad and TextureStore have values of 32 bits, or float16.
// Fails with UnsupportedType where a value is of a type that OpenCL C has not even in memory:
// bfloat16.
//
//     y[i] = x[i] * x[i]    (float16)    ->    y[i] = float32(float16(x[i] * x[i]))
ir::Stmt widen_storage(const ir::Stmt& body, bool half_arithmetic);

// The nearest float16 value; ties to even, overflow to infinity.
double nearest_half(double value);

}  // namespace texloom::codegen::opencl
