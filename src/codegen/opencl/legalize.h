// Rewrites a program of kernels into one that OpenCL C can spell.
#pragma once

#include "lower/pass.h"

namespace texloom::codegen::opencl {

// A group of passes that makes every decision of code generation; print() decides nothing.
// Requires a program at stage Kernels: kernels name thread axes, loads and stores have one linear
// index, and vectors have up to 16 lanes of any type.
// The result is at stage Legalized, and verify_dialect (codegen/legalize/verify_dialect.h) holds
// for opencl_dialect(target), so the printer can spell all of it. Parameters, axes and the launch
// plan stay the same. FloorDiv and FloorMod remain if operands may be negative. Relies on compilers
// to evaluate only one branch of a Select with a scalar condition, even if the branches are
// vectors. OpenCL C allows evaluating both vectors, but compilers based on clang, as all known ones
// are, evaluate one. Fails with UnsupportedType.
const lower::Pass& legalize_pass();

}  // namespace texloom::codegen::opencl
