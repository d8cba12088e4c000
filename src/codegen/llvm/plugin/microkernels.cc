#include "codegen/llvm/plugin/microkernels.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/llvm/plugin/bitcode.h"

namespace texloom::codegen::native {

namespace {

using llvm::Function;

struct Row {
  llvm::StringRef name, target;
};

constexpr Row kRows[] = {
#define MMT4D_TILE(types, m0, n0, k0, target) \
  {"mmt4d_" #m0 "x" #n0 "x" #k0 "_" #types "_" #target, #target},
#include "codegen/llvm/microkernels/variants.def"
};

const Row* row_of(llvm::StringRef name) {
  const auto* found = std::ranges::find(kRows, name, &Row::name);
  return found == std::end(kRows) ? nullptr : found;
}

std::unique_ptr<llvm::Module> parsed(const Bitcode& bitcode, const llvm::Module& like) {
  auto module = llvm::getLazyBitcodeModule(
      llvm::MemoryBufferRef({bitcode.begin, static_cast<size_t>(bitcode.end - bitcode.begin)},
                            bitcode.target),
      like.getContext());
  if (!module) throw std::runtime_error("bad bitcode: " + llvm::toString(module.takeError()));
  (*module)->setTargetTriple(like.getTargetTriple());
  (*module)->setDataLayout(like.getDataLayout());
  return std::move(*module);
}

}  // namespace

bool is_microkernel(std::string_view function) { return row_of(function) != nullptr; }

llvm::Value* emit_microkernel_call(llvm::IRBuilder<>& b, std::string_view name,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  // mmt4d_tile of microkernels/mmt4d.h: sums, left, right, scales, k1, group, flags.
  llvm::Type *pointer = b.getPtrTy(), *steps = b.getInt64Ty();
  const llvm::FunctionCallee tile = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      name, llvm::FunctionType::get(
                b.getVoidTy(), {pointer, pointer, pointer, pointer, steps, steps, b.getInt32Ty()},
                false));
  b.CreateCall(
      tile, {arguments[0], arguments[1], arguments[2], llvm::ConstantPointerNull::get(b.getPtrTy()),
             arguments[3], b.getInt64(1), arguments[4]});
  return b.getInt32(0);
}

void link_microkernels(llvm::Module& module) {
  std::set<std::string> names, targets;
  for (const Function& function : module) {
    const Row* row = row_of(function.getName());
    if (!function.isDeclaration() || row == nullptr) continue;
    names.insert(function.getName().str());
    targets.insert(row->target.str());
  }
  const std::string architecture = llvm::Triple(module.getTargetTriple()).getArchName().str();
  for (const std::string& target : targets) {
    const Bitcode& bitcode = bitcode_of(target, architecture);
    if (llvm::Linker::linkModules(module, parsed(bitcode, module), llvm::Linker::LinkOnlyNeeded))
      throw std::runtime_error("the bitcode of micro-kernels does not fit the kernels");
  }
  for (const std::string& name : names) {
    Function& function = *module.getFunction(name);
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "no-builtins"})
      function.removeFnAttr(attribute);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    function.setLinkage(Function::InternalLinkage);
  }
}

}  // namespace texloom::codegen::native
