// Spells a legalized kernel in OpenCL C 1.2. All decisions have been made by legalize().
#pragma once

#include <string>
#include <vector>

#include "codegen/c/source_codes.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::opencl {

// `foreign` is the program's foreign text, which is printed before kernels with foreign calls; the
// kernel was legalized for `target`. Arguments are declared in the order of the kernel's
// parameters. Buffers are `restrict`: a caller never passes overlapping buffers when one of them is
// written. verify_dialect must hold for the kernel.
PrintedKernel print(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                    const ir::Target& target);

}  // namespace texloom::codegen::opencl
