#include "codegen/llvm/plugin/kernel_entry.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/TargetParser/Triple.h>

#include <array>
#include <limits>
#include <vector>

#include "codegen/llvm/plugin/types.h"
#include "ir/analysis/symbolic_extents.h"

namespace texloom::codegen::native {

using ir::Expr;
using llvm::BasicBlock;
using llvm::Value;

namespace {

// Says which values the integer that was loaded may have: from `min` to `max`.
void limit(llvm::LoadInst* loaded, int64_t min, int64_t max) {
  const unsigned bits = loaded->getType()->getIntegerBitWidth();
  const llvm::APInt first(bits, static_cast<uint64_t>(min), true);
  const llvm::APInt end = llvm::APInt(bits, static_cast<uint64_t>(max), true) + 1;
  if (first == end) return;
  loaded->setMetadata(llvm::LLVMContext::MD_range,
                      llvm::MDBuilder(loaded->getContext()).createRange(first, end));
}

// Loads the kernel's arguments: addresses that are aligned, and numbers with their ranges.
std::vector<Value*> arguments_of(llvm::IRBuilder<>& b, const ir::Kernel& kernel, Value* arguments) {
  const ir::arith::Ranges ranges = ir::ranges_of_params(kernel);
  llvm::LLVMContext& context = b.getContext();
  std::vector<Value*> given;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    llvm::LoadInst* address =
        b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), arguments, i));
    const Expr& scalar = kernel.params[i].scalar;
    if (!scalar) {
      // An attribute of the function for a block is lost when it is inlined.
      address->setMetadata(llvm::LLVMContext::MD_nonnull, llvm::MDNode::get(context, {}));
      const bool is_array = !kernel.params[i].buffer->is_texture();
      if (is_array) {
        llvm::Metadata* bytes = llvm::ConstantAsMetadata::get(b.getInt64(kArgumentAlignment));
        address->setMetadata(llvm::LLVMContext::MD_align, llvm::MDNode::get(context, bytes));
      }
      given.push_back(address);
      continue;
    }
    llvm::LoadInst* value = b.CreateLoad(value_type(scalar->type, context), address);
    const ir::arith::Interval values = ranges.of(scalar.get());
    if (scalar->type.is_integer() && values.bounded()) limit(value, values.min, values.max);
    given.push_back(value);
  }
  return given;
}

// The numbers of blocks along the axes of the grid: constants, or less than 2^31.
std::array<Value*, 3> grid_extents(llvm::IRBuilder<>& b, const ir::Kernel& kernel, Value* groups) {
  std::array<Value*, 3> extents = {};
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (const int64_t* known = ir::int_value(kernel.grid[axis])) {
      extents[axis] = b.getInt64(static_cast<uint64_t>(*known));
      continue;
    }
    llvm::LoadInst* loaded =
        b.CreateLoad(b.getInt32Ty(), b.CreateConstGEP1_64(b.getInt32Ty(), groups, axis));
    limit(loaded, 1, std::numeric_limits<int32_t>::max());
    extents[axis] = b.CreateZExt(loaded, b.getInt64Ty());
  }
  return extents;
}

// The place in the grid of the block of this number. LLVM does not know that the number is less
// than that of all blocks, so the last axis with several blocks needs no remainder.
std::array<Value*, 3> place_of(llvm::IRBuilder<>& b, Value* block,
                               const std::array<Value*, 3>& extents) {
  const auto is_one = [](Value* extent) {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(extent);
    return known != nullptr && known->isOne();
  };
  std::array<Value*, 3> place = {b.getInt64(0), b.getInt64(0), b.getInt64(0)};
  size_t last = 2;
  while (last > 0 && is_one(extents[last])) --last;
  if (is_one(extents[last])) return place;
  Value* rest = block;
  for (size_t axis = 0; axis < last; ++axis) {
    place[axis] = b.CreateURem(rest, extents[axis]);
    rest = b.CreateUDiv(rest, extents[axis]);
  }
  place[last] = rest;
  return place;
}

// Makes non-temporal stores visible before the driver says that the blocks are complete: on x86,
// its atomic operations do not wait for them.
void fence_nontemporal_stores(llvm::IRBuilder<>& b, const llvm::Module& module) {
  if (llvm::Triple(module.getTargetTriple()).isX86())
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  else
    b.CreateFence(llvm::AtomicOrdering::Release);
}

}  // namespace

void emit_entry(llvm::Module& module, const ir::Kernel& kernel, llvm::Function* run_block,
                const BlockNeeds& needs, DebugLines& lines) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* pointer = b.getPtrTy();
  llvm::Type* number = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, number, number}, false);
  // Functions of one name are equal: of several objects, the linker keeps one.
  auto* entry = llvm::Function::Create(type, llvm::Function::WeakODRLinkage, kernel.name, module);
  entry->setComdat(module.getOrInsertComdat(kernel.name));
  entry->setDoesNotThrow();
  lines.begin(*entry, kernel);
  b.SetCurrentDebugLocation(lines.at(*entry, kernel.location));
  llvm::Argument *arguments = entry->getArg(0), *groups = entry->getArg(1);
  llvm::Argument *begin = entry->getArg(2), *end = entry->getArg(3);
  BasicBlock* first = BasicBlock::Create(context, "entry", entry);
  BasicBlock* before = BasicBlock::Create(context, "arguments", entry);
  BasicBlock* body = BasicBlock::Create(context, "block", entry);
  BasicBlock* after = BasicBlock::Create(context, "after", entry);
  b.SetInsertPoint(first);
  Value* scratch = llvm::ConstantPointerNull::get(b.getPtrTy());
  if (needs.scratch_bytes == 0) {
    b.CreateBr(before);
  } else {
    const llvm::FunctionCallee allocate = module.getOrInsertFunction(
        "aligned_alloc", llvm::FunctionType::get(pointer, {number, number}, false));
    scratch =
        b.CreateCall(allocate, {b.getInt64(kArrayAlignment), b.getInt64(needs.scratch_bytes)});
    BasicBlock* none = BasicBlock::Create(context, "no_memory", entry);
    b.CreateCondBr(b.CreateIsNull(scratch), none, before);
    b.SetInsertPoint(none);
    b.CreateRet(b.getInt32(1));
  }
  b.SetInsertPoint(before);
  std::vector<Value*> given = arguments_of(b, kernel, arguments);
  const std::array<Value*, 3> extents = grid_extents(b, kernel, groups);
  b.CreateCondBr(b.CreateICmpULT(begin, end), body, after);
  b.SetInsertPoint(body);
  llvm::PHINode* block = b.CreatePHI(number, 2);
  block->addIncoming(begin, before);
  const std::array<Value*, 3> place = place_of(b, block, extents);
  for (const ir::ThreadAxis& axis : kernel.axes) {
    llvm::Type* index = value_type(axis.var->type, context);
    Value* at = place[axis.tag.dim];
    // The index is less than 2^31, which the flags of the truncation say.
    given.push_back(index == number ? at : b.CreateTrunc(at, index, "", true, true));
  }
  given.push_back(scratch);
  b.CreateCall(run_block, given);
  Value* next = b.CreateAdd(block, b.getInt64(1));
  block->addIncoming(next, body);
  b.CreateCondBr(b.CreateICmpULT(next, end), body, after);
  b.SetInsertPoint(after);
  if (needs.stores_nontemporal) fence_nontemporal_stores(b, module);
  if (needs.scratch_bytes != 0) {
    b.CreateCall(module.getOrInsertFunction(
                     "free", llvm::FunctionType::get(b.getVoidTy(), {pointer}, false)),
                 {scratch});
  }
  b.CreateRet(b.getInt32(0));
}

}  // namespace texloom::codegen::native
