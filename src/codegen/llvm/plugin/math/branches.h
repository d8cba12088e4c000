// Calls that LLVM's vectorizers turn into functions of ours for vectors: branches to the C library
// for rare arguments, and instructions that LLVM vectorizes no loops with.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

namespace texloom::codegen::native::math {

// The result of a function of the C library where `is_rare`, else `value`. A branch skips the call,
// so that it costs next to nothing otherwise. A loop over scalars can still be vectorized.
llvm::Value* with_library(llvm::IRBuilder<>& builder, const std::string& name, llvm::Value* is_rare,
                          llvm::Value* argument, llvm::Value* value);

// Tells LLVM's vectorizers that the call of two arguments becomes this `instruction` for so many
// lanes. inline_variants() puts it in its place.
void map_to_vectors(llvm::CallInst& call, llvm::ArrayRef<unsigned> all_lanes,
                    llvm::Value* (*instruction)(llvm::IRBuilder<>&, llvm::Value*, llvm::Value*));

// Inlines the functions that vectorized loops call, after the optimizer has run.
void inline_variants(llvm::Module& module);

}  // namespace texloom::codegen::native::math
