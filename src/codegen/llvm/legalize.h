// Rewrites a program of kernels into one that the LLVM backend can translate.
#pragma once

#include "lower/pass.h"

namespace texloom::codegen::native {

// A group of passes that makes every decision of code generation but those of LLVM itself.
// Requires a program at stage Kernels.
// The result is at stage Legalized: each kernel runs a block in one thread, and verify_dialect
// (codegen/legalize/verify_dialect.h) holds for llvm_dialect(target). The grid and the launch plan
// stay the same.
const lower::Pass& legalize_pass();

}  // namespace texloom::codegen::native
