// The micro-kernels of mmt4d (docs/microkernels.md) that a machine can run, from their one table,
// microkernels/variants.def.
#pragma once

#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::native {

// A row of the table.
struct Mmt4dVariant {
  std::string_view name;    // of the function: "mmt4d_6x16x1_f32f32f32_x86_64_avx2_fma"
  std::string_view types;   // of left, right and sums: "f32f32f32"
  std::string_view target;  // what the function is compiled for: "x86_64_avx2_fma"
  int m0 = 0, n0 = 0, k0 = 0;
};

// The variants that the target's machine can run, from the least to the most capable; for a target
// of another kind, those that need no feature. Fails with UnknownTarget as describe_machine()
// (emit.h) does.
std::vector<Mmt4dVariant> mmt4d_variants(const ir::Target& target);

}  // namespace texloom::codegen::native
