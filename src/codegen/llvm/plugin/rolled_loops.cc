#include "codegen/llvm/plugin/rolled_loops.h"

#include <llvm/IR/Metadata.h>

#include <algorithm>

namespace texloom::codegen::native {

namespace {

// Two operations in a cycle whose results take four cycles are eight at a time.
constexpr int64_t kMany = 8;

bool computes_vector(const llvm::Instruction& each) {
  return llvm::isa<llvm::BinaryOperator, llvm::CallInst>(each) && each.getType()->isVectorTy();
}

}  // namespace

void keep_tile_rolled(const llvm::BasicBlock& body, llvm::BranchInst& back) {
  if (std::ranges::count_if(body, computes_vector) < kMany) return;
  llvm::LLVMContext& context = back.getContext();
  llvm::Metadata* stays =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, stays});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace texloom::codegen::native
