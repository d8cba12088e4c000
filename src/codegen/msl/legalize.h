// Rewrites a program of kernels into one that Metal's language can spell.
#pragma once

#include "lower/pass.h"

namespace texloom::codegen::msl {

// A group of passes that makes every decision of code generation; print() decides nothing.
// Requires a program at stage Kernels: kernels name thread axes, loads and stores have one linear
// index, and vectors have up to 16 lanes of any type.
// The result is at stage Legalized, and verify_dialect (codegen/legalize/verify_dialect.h) holds
// for msl_dialect(target), so the printer can spell all of it. Parameters, axes and the launch plan
// stay the same. FloorDiv and FloorMod remain if operands may be negative. Fails with
// UnsupportedType.
const lower::Pass& legalize_pass();

}  // namespace texloom::codegen::msl
