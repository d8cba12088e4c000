// LLVM's types of the IR's values and elements.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>

#include "ir/type.h"

namespace texloom::codegen::native {

// The type of a value, a scalar or a vector.
inline llvm::Type* value_type(ir::Type type, llvm::LLVMContext& context) {
  const auto element = [&]() -> llvm::Type* {
    if (!type.is_float()) return llvm::Type::getIntNTy(context, type.bits);
    if (type.bits == 64) return llvm::Type::getDoubleTy(context);
    if (type.bits == 32) return llvm::Type::getFloatTy(context);
    return llvm::Type::getHalfTy(context);
  };
  return type.is_scalar() ? element() : llvm::FixedVectorType::get(element(), type.lanes);
}

// The type of elements in memory: a bool is a byte, and LLVM never computes with bfloat16.
inline llvm::Type* memory_type(ir::Type type, llvm::LLVMContext& context) {
  ir::Type stored = type;
  if (type.is_bool()) stored = ir::Type::u(8).with_lanes(type.lanes);
  if (type.code == ir::TypeCode::BFloat) stored = ir::Type::u(16).with_lanes(type.lanes);
  return value_type(stored, context);
}

}  // namespace texloom::codegen::native
