// From a program of kernels to one that OpenCL C can spell.
#pragma once

#include <span>
#include <string_view>

#include "ir/program.h"
#include "ir/target.h"

namespace texloom::codegen::opencl {

// One rewrite of a kernel. It keeps the rules of the stages (ir/verify.h) that it leads from and
// to; what the printer relies on besides (legalize) holds after the last one.
struct Step {
  std::string_view name;
  void (*run)(ir::Kernel&, const ir::Target&);
  ir::ProgramStage in, out;
  std::string_view summary;
};

// In the order they run.
std::span<const Step> legalize_steps();

// What it does: takes every decision of code generation, as a list of rewrites (legalize_steps).
// Why here: the last pass before print(), which decides nothing.
// Before: stage Kernels: thread axes are named by the kernel, loads and stores have one linear
// index, vectors have up to 16 lanes of any type.
// After: stage Legalised. Parameters, axes and the launch plan are those of before; in bodies
//   * vectors have 2, 3, 4, 8 or 16 lanes, and Lane has a constant index;
//   * a vector access has the index ramp(base, 1, lanes); there is no other Ramp;
//   * a value is of a type that the target's OpenCL C has: bool is an element type of memory alone,
//     but for scalars; so is float16 without half arithmetic, where float32(float16(x)) is x
//     rounded to half;
//   * texels are float32x4, int32x4 or uint32x4, with half arithmetic also float16x4;
//   * a scalar operation is of at least 32 bits, or on float16, so that C's promotions change
//     nothing;
//   * FloorDiv and FloorMod are left where operands may be negative, on int32 and int64;
//   * a vector of bools is the condition of a Select, and compares elements of the same width as
//     the Select's; it may evaluate both branches. A Select with a scalar condition evaluates one
//     of them, be they vectors or not: so do compilers made from clang, which all known ones are,
//     though the text of OpenCL C would let them evaluate both of two vectors;
//   * shared arrays are allocated around everything else.
//
// Fails with UnsupportedType.
ir::Program legalize(const ir::Program& program, const ir::Target& target);

}  // namespace texloom::codegen::opencl
