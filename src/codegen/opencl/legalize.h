// From a program of kernels to one that OpenCL C can spell.
#pragma once

#include "lower/pass.h"

namespace texloom::codegen::opencl {

// The group of passes that legalize() runs.
const lower::Pass& legalize_pass();

// Purpose: checks that kernels contain only what the printer can spell.
// Requires: stage legalized.
// Ensures: the same program; verify_dialect (codegen/legalize/verify_dialect.h) holds for the
//   dialect of the target. Throws an InternalError where it does not.
// Order: last, before the printer.
// Example:
//   a vector of 5 lanes    ->    internal error
void check_dialect(lower::Lowering& lowering);

// What it does: takes every decision of code generation, as a list of rewrites (legalize_pass).
// Why here: the last pass before print(), which decides nothing.
// Before: stage Kernels: thread axes are named by the kernel, loads and stores have one linear
// index, vectors have up to 16 lanes of any type.
// After: stage Legalized, and verify_dialect (codegen/legalize/verify_dialect.h) holds for
// opencl_dialect(target), so that the printer meets nothing that it cannot spell. Parameters, axes
// and the launch plan stay the same. FloorDiv and FloorMod are left where operands may be negative.
// A Select with a scalar condition evaluates one branch, be they vectors or not: so do compilers
// made from clang, which all known ones are, though the text of OpenCL C would let them evaluate
// both of two vectors. Fails with UnsupportedType.
ir::Program legalize(const ir::Program& program, const ir::Target& target);

}  // namespace texloom::codegen::opencl
