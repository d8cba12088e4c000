// Functions that users compiled to LLVM's code, which kernels call.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string_view>

#include "ir/program.h"

namespace texloom::codegen::native {

// Calls a function of imported code, as C declares it: pointers, integers and floats.
llvm::Value* emit_imported_call(llvm::IRBuilder<>& b, std::string_view name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Value*> arguments);

// Defines the functions of the program's foreign symbols whose library is imported code
// (codegen/llvm/foreign_symbols.h), with all that they call, as functions of the module that are
// inlined. Their attributes say nothing of the processor: the caller gives them those of the
// module's other functions. Throws Refusal for code that LLVM cannot read, that is for another
// architecture, or that lacks a function with the types of the call.
void link_imported_code(llvm::Module& module, const ir::Program& program);

}  // namespace texloom::codegen::native
