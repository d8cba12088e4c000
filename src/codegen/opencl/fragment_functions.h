// Steps of fragments by NVIDIA's instructions, as inline PTX.
#pragma once

#include <string>

#include "codegen/c/prelude.h"
#include "ir/analysis/fragments.h"

namespace texloom::codegen::opencl {

// A lane's registers for a part of a fragment: float32 sums, or words of two 16-bit elements of a
// factor. PTX ISA 9.0, 9.7.14 states which elements a lane has.
inline constexpr int kSumRegisters = 8, kFactorRegisters = 4;

// The memory of a step.
struct StepMemory {
  std::string_view space;  // "__local" or "__global"
  ir::Type element;
  bool aligned = false;  // whether each row of a part begins at a multiple of 16 bytes
};

// The names of functions, which the prelude then has:
// (float* sums, float value)
std::string fill_fragment(Prelude& prelude);
// (uint* or float* registers, const element* source, int stride)
std::string load_fragment(Prelude& prelude, ir::FragmentRole role, const StepMemory& memory);
// (float* sums, const uint* left, const uint* right). `factors`: float16 or bfloat16.
std::string multiply_fragments(Prelude& prelude, ir::Type factors);
// (element* destination, int stride, const float* sums)
std::string store_fragment(Prelude& prelude, const StepMemory& memory);

}  // namespace texloom::codegen::opencl
