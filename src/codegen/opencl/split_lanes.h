// Vectors that OpenCL C does not have, made of scalars.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: computes a vector lane by lane where OpenCL C cannot compute it at once:
//   * vectors of other than 2, 3, 4, 8 or 16 lanes;
//   * loads and stores at other places than consecutive ones, and Ramps that are no index;
//   * one lane of a vector at an index that is not constant: OpenCL C indexes no vectors;
//   * Selects with vector conditions, ands and ors of vectors, with buffer loads in an operand that
//     need not be evaluated: scalars are evaluated lazily, vectors are not, and a load that the
//     condition forbids may lie outside its buffer.
// Why here: first, on types as the user wrote them; it makes only what the other rewrites accept,
// and texels are shared afterwards, since lanes may read one texel several times.
// Before: stage Kernels. After: of vectors, only those named at legalize().
//
//     y[ramp(i, 2, 4)] = x4           ->    y[i] = x4.lane[0]  y[i + 2] = x4.lane[1]  ...
//     select(ramp(i, 1, 2) < x2(n), x[ramp(i, 1, 2)], x2(0.0))
//         ->    pack(select(i < n, x[i], 0.0), select(i + 1 < n, x[i + 1], 0.0))
ir::Stmt split_lanes(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
