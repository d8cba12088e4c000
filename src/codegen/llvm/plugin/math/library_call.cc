#include "codegen/llvm/plugin/math/library_call.h"

#include <llvm/IR/Module.h>

#include <string>

namespace texloom::codegen::native {

using llvm::Value;

Value* library_call(llvm::IRBuilder<>& b, std::string_view name, llvm::ArrayRef<Value*> arguments) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Type* type = arguments.front()->getType();
  llvm::Type* result = type->getScalarType();
  const std::string symbol = std::string(name) + (result->isFloatTy() ? "f" : "");
  std::vector<llvm::Type*> params;
  for (Value* each : arguments) params.push_back(each->getType()->getScalarType());
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(symbol, llvm::FunctionType::get(result, params, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
  }
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return b.CreateCall(callee, arguments);
  Value* all = llvm::PoisonValue::get(type);
  for (uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> own;
    for (Value* each : arguments) own.push_back(b.CreateExtractElement(each, lane));
    all = b.CreateInsertElement(all, b.CreateCall(callee, own), lane);
  }
  return all;
}

}  // namespace texloom::codegen::native
