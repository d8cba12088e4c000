// Products with powers of 2 by one instruction, on processors that have it.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace texloom::codegen::native::math {

// Whether the processor has the instruction for this type: float, or vectors of some lanes.
bool has_scaling(const llvm::Type* type);

// a * 2^k for integers k in float, with one rounding. A scalar is a call that LLVM's vectorizers
// turn into the instruction for vectors; define_scaling() is needed after them.
llvm::Value* scale(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* k);

// Gives the calls that are still scalars their definition, which the inliner takes in.
void define_scaling(llvm::Module& module);

}  // namespace texloom::codegen::native::math
