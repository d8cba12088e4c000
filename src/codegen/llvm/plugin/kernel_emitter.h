// Translates a kernel to a function in LLVM's intermediate representation.
#pragma once

#include <llvm/IR/Module.h>

#include "ir/program.h"

namespace texloom::codegen::native {

class DebugLines;
struct DotUnit;

// Adds to the module the function that support/processor/native_abi.h describes, under the
// kernel's name. The kernel is legalized for llvm_dialect.
void emit_kernel(llvm::Module& module, const ir::Kernel& kernel, const DotUnit& dots,
                 DebugLines& lines);

}  // namespace texloom::codegen::native
