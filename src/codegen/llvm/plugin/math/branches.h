// Branches to the C library for rare arguments, in code that is vectorized.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

namespace texloom::codegen::native::math {

// The result of a function of the C library where `is_rare`, else `value`. A branch skips the call,
// so that it costs next to nothing otherwise. A loop over scalars can still be vectorized.
llvm::Value* with_library(llvm::IRBuilder<>& builder, const std::string& name, llvm::Value* is_rare,
                          llvm::Value* argument, llvm::Value* value);

// Inlines the functions that vectorized loops call, after the optimizer has run.
void inline_variants(llvm::Module& module);

}  // namespace texloom::codegen::native::math
