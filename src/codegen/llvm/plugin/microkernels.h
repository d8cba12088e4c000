// Calls of the micro-kernels of mmt4d, and their code, which the plug-in carries as bitcode.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string_view>

namespace texloom::codegen::native {

// Whether a function is a row of the table (microkernels/variants.def).
bool is_microkernel(std::string_view function);

// Calls the micro-kernel with the arguments that codegen/llvm/foreign_symbols.cc describes; returns
// 0.
llvm::Value* emit_microkernel_call(llvm::IRBuilder<>& b, std::string_view name,
                                   llvm::ArrayRef<llvm::Value*> arguments);

// Defines the micro-kernels that the module calls, as functions that are always inlined. Their
// attributes say nothing of the processor: the caller gives them those of the module's other
// functions.
void link_microkernels(llvm::Module& module);

}  // namespace texloom::codegen::native
