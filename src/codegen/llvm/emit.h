// Has the LLVM plug-in make native code of kernels.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::native {

// One shared object for all kernels of a legalized program. Fails with NoLlvm if the plug-in is not
// installed, and with UnknownTarget for a processor that LLVM does not know.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

}  // namespace texloom::codegen::native
