// Contraction of products and sums to fused multiply-add.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// What it does: turns the sum or difference of a product and another value into one Fma, where
// the target's math mode allows contraction; otherwise nothing.
// Why here: rounding is explicit in the IR, so contraction is a decision of one pass, and
// printers forbid device compilers to contract; last, when unrolling and vectorising have made
// all sums. Both products of a sum of two cannot be contracted: the right one is.
// Before: stage Kernels. After: the same; results of the contracted sums are rounded once.
// float16 is left alone: without half arithmetic it is computed in float32, and an Fma rounded to
// float32 and then to float16 is not always the float16 value nearest to the exact sum; with half
// arithmetic the results are to be the same.
//
//     acc[0] = acc[0] + a[k] * b[k]    ->    acc[0] = fma(a[k], b[k], acc[0])
//     y[i] = x[i] - a[i] * b[i]        ->    y[i] = fma(a[i] * -1.0, b[i], x[i])
void contract_fma(Lowering& lowering);

// The same of one statement, whatever the math mode.
ir::Stmt contract_products(const ir::Stmt& body);

}  // namespace texloom::lower
