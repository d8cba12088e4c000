// Math functions in native code: vectors are computed at once, without the C library.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "ir/expr.h"

namespace texloom::codegen::native::math {

// Whether the function has a definition by arithmetic (definitions.h).
bool is_defined(ir::Intrinsic function);

// Calls a function for floats or doubles, or vectors of these, which define_functions() must define
// at last.
llvm::Value* call(llvm::IRBuilder<>& builder, ir::Intrinsic function,
                  llvm::ArrayRef<llvm::Value*> arguments);

// a * b + c with one rounding, likewise.
llvm::Value* call_fused(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> arguments);

// Defines the functions that the module calls, for one processor.
void define_functions(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace texloom::codegen::native::math
