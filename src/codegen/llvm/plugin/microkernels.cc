#include "codegen/llvm/plugin/microkernels.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/TargetParser/Triple.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/llvm/plugin/bitcode.h"

namespace texloom::codegen::native {

namespace {

using llvm::Function;

constexpr llvm::StringRef kPrefix = "mmt4d_";

struct Row {
  llvm::StringRef name, target;
};

constexpr Row kRows[] = {
#define MMT4D_TILE(types, m0, n0, k0, target) \
  {"mmt4d_" #m0 "x" #n0 "x" #k0 "_" #types "_" #target, #target},
#include "codegen/llvm/microkernels/variants.def"
};

llvm::StringRef target_of(llvm::StringRef name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.target;
  }
  throw std::runtime_error("there is no micro-kernel '" + name.str() + "'");
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
    if (!function.isDeclaration() || !function.getName().starts_with(kPrefix)) continue;
    names.insert(function.getName().str());
    targets.insert(target_of(function.getName()).str());
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
