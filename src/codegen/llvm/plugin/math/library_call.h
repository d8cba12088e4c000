// Calls of the C library's math functions.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string_view>

namespace texloom::codegen::native {

// Calls "exp" for doubles and "expf" for floats, for each lane of a vector. The first argument has
// the type of the result.
llvm::Value* library_call(llvm::IRBuilder<>& builder, std::string_view name,
                          llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace texloom::codegen::native
