// Warns of kernels that devices compile slowly.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compile/module.h"
#include "lower/lowering.h"
#include "support/diagnostic.h"

namespace texloom::compile {

// A kernel with more bytes of source is large. A device's compiler takes from seconds to minutes
// for it, and its time grows faster than the source.
inline constexpr std::size_t kLargeSource = std::size_t{64} << 10;

// A warning for each large kernel: at its largest unrolled loop, or at the kernel if it has none.
// `unrollings`: of the program from which the module was compiled.
std::vector<Diagnostic> large_kernel_warnings(const CompiledModule& module,
                                              std::span<const lower::Unrolling> unrollings);

}  // namespace texloom::compile
