// Contracts products and sums to fused multiply-adds.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: turns the sum or difference of a product and another value into one fma, if the target's
//   math mode allows contraction and its processor has an instruction for that. In fast math the
//   compiler of native code contracts instead.
//   Rounding is explicit in the IR, so that one pass decides on contraction, and printers forbid it
//   to the device's compiler. In a sum of two products the right one is contracted. float16 is not
//   contracted: without half arithmetic it is computed in float32, and an fma rounded to float32
//   and then to float16 is not always the float16 value nearest to the exact sum; with half
//   arithmetic the results should be the same as without it.
// Requires: stage kernels.
// Ensures: stage kernels; contracted sums are rounded once.
// Order: last, after unrolling and vectorizing have made all sums.
// Example:
//   acc[0] = acc[0] + a[k] * b[k]    ->    acc[0] = fma(a[k], b[k], acc[0])
//   y[i] = x[i] - a[i] * b[i]        ->    y[i] = fma(a[i] * -1.0, b[i], x[i])
void contract_fma(Lowering& lowering);

// Contracts the products of one statement, in any math mode.
ir::Stmt contract_products(const ir::Stmt& body);

}  // namespace texloom::lower
