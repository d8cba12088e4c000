#include "codegen/llvm/plugin/math/branches.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/VFABIDemangler.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "codegen/llvm/plugin/math/library_call.h"

namespace texloom::codegen::native::math {

namespace {

using llvm::BasicBlock;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr llvm::StringLiteral kPrefix = "texloom.rare.";
constexpr llvm::StringLiteral kMappings = "vector-function-abi-variant";

// Branches, and returns the block of the rare case. Emission goes on there.
BasicBlock* branch_to_rare(Builder& b, Value* condition, BasicBlock* otherwise) {
  BasicBlock* rare =
      BasicBlock::Create(b.getContext(), "rare", b.GetInsertBlock()->getParent(), otherwise);
  b.CreateCondBr(condition, rare, otherwise,
                 llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  return rare;
}

// A function that is inlined after LLVM's vectorizers, unless the module has it already.
llvm::Function* variant_of(llvm::Module& module, const std::string& name, llvm::FunctionType* type,
                           llvm::function_ref<void(Builder&)> emit_body) {
  const std::string full = (kPrefix + name).str();
  if (llvm::Function* known = module.getFunction(full)) return known;
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, full, module);
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  Builder b(BasicBlock::Create(module.getContext(), "entry", function));
  emit_body(b);
  llvm::appendToCompilerUsed(module, {function});
  return function;
}

// A function of an argument and a mask: calls the C library for all lanes if the mask has any.
llvm::Function* masked_variant(llvm::Module& module, const std::string& name, llvm::Type* element,
                               unsigned lanes) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* type = llvm::FixedVectorType::get(element, lanes);
  llvm::Type* mask = llvm::FixedVectorType::get(llvm::Type::getInt1Ty(context), lanes);
  const std::string suffix = (element->isFloatTy() ? ".f32x" : ".f64x") + std::to_string(lanes);
  return variant_of(module, name + suffix, llvm::FunctionType::get(type, {type, mask}, false),
                    [&](Builder& b) {
                      llvm::Function* function = b.GetInsertBlock()->getParent();
                      BasicBlock* none = BasicBlock::Create(context, "none", function);
                      branch_to_rare(b, b.CreateOrReduce(function->getArg(1)), none);
                      b.CreateRet(library_call(b, name, {function->getArg(0)}));
                      b.SetInsertPoint(none);
                      b.CreateRet(function->getArg(0));
                    });
}

// Tells LLVM's vectorizers what the call becomes for so many lanes: with a mask, or without.
void map_to_variants(llvm::CallInst& call, llvm::ArrayRef<unsigned> all_lanes, char mask,
                     llvm::function_ref<llvm::Function*(unsigned)> variant) {
  const std::string scalar = call.getCalledFunction()->getName().str();
  const std::string arguments(call.arg_size(), 'v');
  std::string mappings;
  for (const unsigned lanes : all_lanes) {
    mappings +=
        (llvm::Twine(mappings.empty() ? "" : ",") + "_ZGV_LLVM_" + llvm::Twine(mask) +
         llvm::Twine(lanes) + arguments + "_" + scalar + "(" + variant(lanes)->getName() + ")")
            .str();
  }
  call.addFnAttr(llvm::Attribute::get(call.getContext(), kMappings, mappings));
}

}  // namespace

Value* with_library(Builder& b, const std::string& name, Value* is_rare, Value* argument,
                    Value* value) {
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* after = BasicBlock::Create(b.getContext(), "after", before->getParent());
  const bool is_vector = value->getType()->isVectorTy();
  BasicBlock* rare = branch_to_rare(b, is_vector ? b.CreateOrReduce(is_rare) : is_rare, after);
  Value* exact = library_call(b, name, {argument});
  if (is_vector)
    exact = b.CreateSelect(is_rare, exact, value);
  else
    map_to_variants(
        *llvm::cast<llvm::CallInst>(exact), {2U, 4U, 8U, 16U}, 'M', [&](unsigned lanes) {
          return masked_variant(*b.GetInsertBlock()->getModule(), name, value->getType(), lanes);
        });
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* phi = b.CreatePHI(value->getType(), 2);
  phi->addIncoming(value, before);
  phi->addIncoming(exact, rare);
  return phi;
}

void map_to_vectors(llvm::CallInst& call, llvm::ArrayRef<unsigned> all_lanes,
                    Value* (*instruction)(Builder&, Value*, Value*)) {
  const std::string scalar = call.getCalledFunction()->getName().str();
  map_to_variants(call, all_lanes, 'N', [&](unsigned lanes) {
    llvm::Type* type = llvm::FixedVectorType::get(call.getType(), lanes);
    return variant_of(*call.getModule(), scalar + "x" + std::to_string(lanes),
                      llvm::FunctionType::get(type, {type, type}, false), [&](Builder& b) {
                        llvm::Function* function = b.GetInsertBlock()->getParent();
                        b.CreateRet(instruction(b, function->getArg(0), function->getArg(1)));
                      });
  });
}

void inline_variants(llvm::Module& module) {
  const auto is_variant = [](llvm::Constant* each) { return each->getName().starts_with(kPrefix); };
  llvm::removeFromUsedLists(module, is_variant);
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, modules);
}

}  // namespace texloom::codegen::native::math
