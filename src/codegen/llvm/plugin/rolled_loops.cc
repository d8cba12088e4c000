#include "codegen/llvm/plugin/rolled_loops.h"

#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <cstdint>

#include "ir/visit.h"

namespace texloom::codegen::native {

namespace {

// More iterations than a window of 7 x 7 has, whose loops LLVM may unroll.
constexpr int64_t kManyIterations = 64;
// Two operations in a cycle whose results take four cycles are eight at a time.
constexpr int64_t kManyVectors = 8;

// The most iterations of a statement in `s`, at most one more than kManyIterations; loops of
// unknown extent count once.
int64_t iterations_in(const ir::Stmt& s) {
  constexpr int64_t kLimit = kManyIterations + 1;
  int64_t most = 1;
  ir::for_each_child(
      s, [](const ir::Expr&) {},
      [&](const ir::Stmt& child) { most = std::max(most, iterations_in(child)); });
  if (s->kind != ir::StmtKind::For) return most;
  const int64_t* extent = ir::int_value(static_cast<const ir::For&>(*s).extent);
  return extent == nullptr ? most : std::min(most * std::min(*extent, kLimit), kLimit);
}

bool computes_vector(const llvm::Instruction& each) {
  return llvm::isa<llvm::BinaryOperator, llvm::CallInst>(each) && each.getType()->isVectorTy();
}

}  // namespace

bool has_long_loops(const ir::For& loop) {
  const int64_t* extent = ir::int_value(loop.extent);
  const bool is_innermost = !ir::contains<ir::For>(loop.body);
  if (is_innermost || extent == nullptr) return false;
  return *extent > 1 && *extent * iterations_in(loop.body) > kManyIterations;
}

bool computes_tile(const llvm::BasicBlock& body) {
  return std::ranges::count_if(body, computes_vector) >= kManyVectors;
}

void keep_rolled(llvm::BranchInst& again) {
  llvm::LLVMContext& context = again.getContext();
  llvm::MDNode* option =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, option});
  loop->replaceOperandWith(0, loop);
  again.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace texloom::codegen::native
