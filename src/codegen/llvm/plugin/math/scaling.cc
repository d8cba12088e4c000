#include "codegen/llvm/plugin/math/scaling.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "codegen/llvm/plugin/math/branches.h"

namespace texloom::codegen::native::math {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr llvm::StringLiteral kScalar = "texloom.scale.f32";
constexpr std::array kLanes = {4U, 8U, 16U};
constexpr unsigned kCurrentRounding = 4;

Value* vector_instruction(Builder& b, Value* a, Value* k) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  const bool is_widest = lanes == 16;
  llvm::SmallVector<Value*, 5> arguments = {
      a, k, llvm::Constant::getNullValue(a->getType()),
      llvm::Constant::getAllOnesValue(b.getIntNTy(is_widest ? 16 : 8))};
  if (is_widest) arguments.push_back(b.getInt32(kCurrentRounding));
  const llvm::Intrinsic::ID function = is_widest ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                                       : lanes == 8
                                           ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                                           : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
  return b.CreateIntrinsic(function, {}, arguments);
}

llvm::Function* scalar_function(llvm::Module& module) {
  if (llvm::Function* known = module.getFunction(kScalar)) return known;
  llvm::Type* type = llvm::Type::getFloatTy(module.getContext());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                          llvm::Function::ExternalLinkage, kScalar, module);
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return function;
}

}  // namespace

bool has_scaling(const llvm::Type* type) {
  if (!type->getScalarType()->isFloatTy()) return false;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr || llvm::is_contained(kLanes, vector->getNumElements());
}

Value* scale(Builder& b, Value* a, Value* k) {
  if (a->getType()->isVectorTy()) return vector_instruction(b, a, k);
  llvm::CallInst* call = b.CreateCall(scalar_function(*b.GetInsertBlock()->getModule()), {a, k});
  map_to_vectors(*call, kLanes, vector_instruction);
  return call;
}

void define_scaling(llvm::Module& module) {
  llvm::Function* function = module.getFunction(kScalar);
  if (function == nullptr || !function->isDeclaration()) return;
  function->setLinkage(llvm::Function::InternalLinkage);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  Builder b(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  llvm::Type* type = llvm::FixedVectorType::get(b.getFloatTy(), 4);
  Value* nothing = llvm::PoisonValue::get(type);
  const auto lane = [&](unsigned i) {
    return b.CreateInsertElement(nothing, function->getArg(i), uint64_t{0});
  };
  Value* vector = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ss, {},
                                    {lane(0), lane(1), llvm::Constant::getNullValue(type),
                                     b.getInt8(1), b.getInt32(kCurrentRounding)});
  b.CreateRet(b.CreateExtractElement(vector, uint64_t{0}));
}

}  // namespace texloom::codegen::native::math
