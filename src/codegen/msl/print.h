// Spells a legalized kernel in Metal's language. All decisions have been made by legalize().
#pragma once

#include <string>
#include <vector>

#include "codegen/c/source_codes.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::msl {

// `foreign` is the program's foreign text, which is printed before kernels with foreign calls; the
// kernel was legalized for `target`. In the order of the kernel's parameters, buffers have the
// indices [[buffer(0)]], [[buffer(1)]], ..., and textures [[texture(0)]], [[texture(1)]], ... All
// constants are members of one struct, in their order and with the alignment of C. setBytes passes
// the struct with the buffer index after the last buffer. A kernel that uses_argument_buffer()
// (ir/analysis/limits.h) has its buffers and textures in one struct, [[buffer(0)]], with the
// indices [[id(0)]], [[id(1)]], ... in the order of the parameters. Buffers are `__restrict`: a
// caller never passes overlapping buffers when one of them is written. verify_dialect must hold for
// the kernel.
PrintedKernel print(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                    const ir::Target& target);

}  // namespace texloom::codegen::msl
