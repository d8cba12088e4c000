// Emits the IR's operations on values: the semantics of ir/interpret/value.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/expr.h"

namespace texloom::codegen::native {

// The sums and products of `is_index` integers do not overflow.
llvm::Value* emit_binary(llvm::IRBuilder<>& builder, ir::BinaryOp op, ir::Type operands,
                         llvm::Value* a, llvm::Value* b, bool is_index);
llvm::Value* emit_cast(llvm::IRBuilder<>& builder, ir::Type from, ir::Type to, llvm::Value* value);
llvm::Value* emit_call(llvm::IRBuilder<>& builder, ir::Intrinsic function, ir::Type type,
                       llvm::ArrayRef<llvm::Value*> arguments);
llvm::Value* emit_fma(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> arguments);

// Conversions between values and the elements that memory holds (types.h): float16 and bfloat16 are
// computed in float32, and a bool is a byte.
llvm::Value* from_memory(llvm::IRBuilder<>& builder, ir::Type stored, ir::Type value_type,
                         llvm::Value* elements);
llvm::Value* to_memory(llvm::IRBuilder<>& builder, ir::Type value_type, ir::Type stored,
                       llvm::Value* value);

}  // namespace texloom::codegen::native
